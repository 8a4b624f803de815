//===- PrefetchGathers.cpp - gather a layer while another computes --------===//
//
// What a function gathers of parameters is on its way while what was gathered
// before is in use (Zhao et al., PyTorch FSDP, arXiv 2304.11277).
//
//===----------------------------------------------------------------------===//

#include "dtc/Schedule/Aliases.h"
#include "dtc/Schedule/Passes.h"
#include "dtc/Schedule/Skeleton.h"

namespace dtc {
#define GEN_PASS_DEF_PREFETCHGATHERS
#include "dtc/Schedule/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// The first op that reads a value or a view of it.
static Operation *getFirstReader(Value value) {
  Operation *first = nullptr;
  SmallVector<Value> worklist = {value};
  while (!worklist.empty())
    for (Operation *user : worklist.pop_back_val().getUsers())
      if (isView(user))
        llvm::append_range(worklist, user->getResults());
      else if (!first || user->isBeforeInBlock(first))
        first = user;
  return first;
}

static void prefetch(func::FuncOp function) {
  auto gathers = llvm::to_vector(llvm::make_filter_range(
      function.getOps<AllGatherOp>(),
      [](Operation *op) { return isParameterGather(op); }));
  Operation *previousReader = nullptr;
  for (AllGatherOp gather : gathers) {
    Operation *reader = getFirstReader(gather.getY());
    // The first has nothing to hide behind; of others that are read at once
    // the one before is not there yet.
    if (previousReader && reader && previousReader != reader) {
      if (previousReader->isBeforeInBlock(gather))
        gather->moveBefore(previousReader);
      OpBuilder builder(reader);
      gather->setAttr(attr::slot, builder.getI64IntegerAttr(gatherSlot));
      WaitOp::create(builder, gather.getLoc(), gather.getY(), gatherSlot);
    }
    previousReader = reader;
  }
}

namespace {

struct PrefetchGathersPass
    : dtc::impl::PrefetchGathersBase<PrefetchGathersPass> {
  void runOnOperation() override {
    FailureOr<SmallVector<Stages>> programs = getPrograms(getOperation());
    if (failed(programs))
      return signalPassFailure();
    for (const Stages &stages : *programs)
      for (ModuleOp stage : stages)
        for (auto function : stage.getOps<func::FuncOp>())
          if (!function.isExternal())
            prefetch(function);
  }
};

} // namespace
