//===- Alignments.cpp - alignment of the buffers of kernels ---------------===//
//
// A buffer begins at its offset of the memory plan. A view may begin anywhere
// inside a buffer: micro-batches, slices and parts of buckets start at any
// element.
//
//===----------------------------------------------------------------------===//

#include "dtc/Target/CUDA/Alignments.h"
#include "dtc/Lowering/Passes.h"
#include "dtc/Memory/MemoryPlanner.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/KernelOps.h"
#include "dtc/Plan/Skeleton.h"
#include <numeric>

using namespace mlir;
using namespace dtc;

namespace {

class Alignments {
public:
  void addFunction(func::FuncOp function);
  void annotate() const;

private:
  /// Alignments of arguments and results: the largest that hold for all calls.
  using Places = SmallVector<int64_t>;

  /// Takes the operands and results of a call into account.
  void meet(Operation *callee, ValueRange passed, ValueRange returned,
            const AliasClasses &classes, ArrayRef<int64_t> arguments);

  llvm::MapVector<Operation *, std::pair<Places, Places>> functions;
};

} // namespace

void Alignments::meet(Operation *callee, ValueRange passed, ValueRange returned,
                      const AliasClasses &classes,
                      ArrayRef<int64_t> arguments) {
  auto &[operands, results] = functions[callee];
  auto include = [&](ValueRange values, Places &places) {
    places.resize(values.size(), memoryAlignment);
    for (auto [value, place] : llvm::zip(values, places)) {
      Value root = classes.getRoot(value);
      if (auto argument = dyn_cast<BlockArgument>(root))
        if (argument.getArgNumber() < arguments.size())
          place = std::gcd(place, arguments[argument.getArgNumber()]);
      place = std::gcd(place, classes.getOffset(value));
    }
  };
  include(passed, operands);
  include(returned, results);
}

/// Adds a function. Its callers must have been added before.
void Alignments::addFunction(func::FuncOp function) {
  AliasClasses classes(function.front());
  Places arguments = functions.lookup(function).first;
  for (Operation &op : function.front()) {
    Operation *callee = nullptr;
    SmallVector<Value> passed(op.getOperands());
    if (auto run = dyn_cast<RunOp>(op)) {
      callee = getCallee(run);
    } else if (auto launch = dyn_cast<LaunchOp>(op)) {
      callee = launch.getFunction();
    } else if (auto product = dyn_cast<MatMulEpilogueOp>(op)) {
      // The epilogue's kernel reads the plain product from the result's buffer.
      if (auto kernel =
              product->getAttrOfType<SymbolRefAttr>(epilogueKernelAttrName))
        callee = SymbolTable::lookupNearestSymbolFrom(
            function->getParentOfType<ModuleOp>()->getParentOp(), kernel);
      passed = {product.getResult(), product.getOther()};
      if (product.getBias())
        passed.push_back(product.getBias());
    }
    if (callee)
      meet(callee, passed, op.getResults(), classes, arguments);
  }
}

void Alignments::annotate() const {
  for (const auto &[function, places] : functions) {
    auto kernel = dyn_cast<func::FuncOp>(function);
    if (!kernel || !kernel->hasAttr(attr::kernel))
      continue;
    Builder b(kernel.getContext());
    for (auto [i, place] : llvm::enumerate(places.first))
      kernel.setArgAttr(i, attr::alignment, b.getI64IntegerAttr(place));
    for (auto [i, place] : llvm::enumerate(places.second))
      kernel.setResultAttr(i, attr::alignment, b.getI64IntegerAttr(place));
  }
}

void dtc::annotateAlignments(ModuleOp module) {
  Alignments alignments;
  for (bool isPlan : {true, false})
    for (auto stage : module.getOps<ModuleOp>()) {
      if (!stage->hasAttr(attr::stage))
        continue;
      for (auto function : stage.getOps<func::FuncOp>())
        if (!function.isDeclaration() &&
            (function.getSymName() == planName) == isPlan)
          alignments.addFunction(function);
    }
  alignments.annotate();
}
