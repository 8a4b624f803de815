//===- PrefetchGathers.cpp - gather a layer while another computes --------===//
//
// What a function gathers of parameters is on its way while what was gathered
// before is in use (Zhao et al., PyTorch FSDP, arXiv 2304.11277).
//
//===----------------------------------------------------------------------===//

#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Schedule/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_PREFETCHGATHERS
#include "dtc/Schedule/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

static void prefetch(func::FuncOp function) {
  // In the order of use, which is not that of the gathers if one of several
  // users has moved up.
  SmallVector<std::pair<Operation *, AllGatherOp>> gathers;
  for (auto gather : function.getOps<AllGatherOp>())
    if (isParameterGather(gather) && !gather->hasAttr(attr::slot) &&
        gather.isContiguous())
      if (SmallVector<Operation *> readers = getReaders(gather.getY());
          !readers.empty())
        gathers.push_back({readers.front(), gather});
  llvm::sort(gathers, [](const auto &a, const auto &b) {
    return a.first == b.first ? a.second->isBeforeInBlock(b.second)
                              : a.first->isBeforeInBlock(b.first);
  });
  Operation *previous = nullptr;
  for (auto &[reader, gather] : gathers) {
    // The first has nothing to hide behind, nor has what is read at once with
    // another, or is there already.
    if (previous && previous != reader && previous->isBeforeInBlock(gather)) {
      gather->moveBefore(previous);
      start(gather, gatherSlot);
      waitBefore(reader, gather.getY(), gather.getLoc(), gatherSlot);
    }
    previous = reader;
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
