//===- PadVocabulary.cpp - pad vocabularies that tp does not divide -------===//
//
// Pads the dimensions that ChooseSplits splits unevenly to the next multiple of
// tp, and the columns of logits to the multiple that the target's products
// prefer. Pads parameters and all values that have these dimensions, and tells
// the loss which columns are classes.
//
//===----------------------------------------------------------------------===//

#include "PaddingValues.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Propagation/SplitExpansion.h"
#include "dtc/Strategy/Passes.h"
#include "dtc/Support/Axes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"

namespace dtc {
#define GEN_PASS_DEF_PADVOCABULARY
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

struct PadVocabulary : dtc::impl::PadVocabularyBase<PadVocabulary> {
  using PadVocabularyBase::PadVocabularyBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    PadVocabularyBase::getDependentDialects(registry);
    registerSplitExpansions(registry);
  }

  void runOnOperation() override {
    if (tp == 1 && multiple == 1)
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      run(function);
  }

private:
  void run(func::FuncOp function);
  int64_t getPadded(int64_t size, int64_t ranks) const;
  llvm::DenseMap<unsigned, int64_t> findPadded(func::FuncOp function,
                                               DimensionClasses &classes);
  void noteTensor(func::FuncOp function, BlockArgument parameter, int64_t dim);
  void maskResult(OpOperand &result, int64_t dim, int64_t size);
};

} // namespace

/// Records the shape before padding, which files have.
void PadVocabulary::noteTensor(func::FuncOp function, BlockArgument parameter,
                               int64_t dim) {
  unsigned number = parameter.getArgNumber();
  if (function.getArgAttr(number, attr::part))
    return; // of a tensor whose shape is recorded
  Builder b(&getContext());
  auto type = cast<RankedTensorType>(parameter.getType());
  function.setArgAttr(
      number, attr::part,
      b.getDictionaryAttr(
          {b.getNamedAttr("tensor",
                          function.getArgAttr(number, attr::parameter)),
           b.getNamedAttr("shape", b.getDenseI64ArrayAttr(type.getShape())),
           b.getNamedAttr("dim", b.getI64IntegerAttr(dim)),
           b.getNamedAttr("start", b.getI64IntegerAttr(0))}));
}

/// Sets the padding of a result, from `size` on, to minus infinity, so that an
/// added class is never the most likely.
void PadVocabulary::maskResult(OpOperand &result, int64_t dim, int64_t size) {
  auto type = cast<RankedTensorType>(result.get().getType());
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!element)
    return;
  ImplicitLocOpBuilder b(result.get().getLoc(), result.getOwner());
  SmallVector<int64_t> shape(type.getRank() - dim, 1);
  shape.front() = type.getDimSize(dim);
  SmallVector<bool> flags(shape.front(), false);
  std::fill_n(flags.begin(), size, true);
  auto flagType = RankedTensorType::get(shape, b.getI1Type());
  auto scalar = RankedTensorType::get({}, element);
  Value isClass =
      ConstantOp::create(b, flagType, DenseElementsAttr::get(flagType, flags));
  Value lowest = ConstantOp::create(
      b, scalar,
      DenseElementsAttr::get(
          scalar, APFloat::getInf(element.getFloatSemantics(), true)));
  result.set(SelectOp::create(b, isClass, result.get(), lowest));
}

/// The padded size of a dimension that `ranks` ranks share: on each rank a
/// multiple of the largest power of two, up to the target's, that adds no more
/// than a sixteenth.
int64_t PadVocabulary::getPadded(int64_t size, int64_t ranks) const {
  for (int64_t wanted = multiple; wanted > 1; wanted /= 2) {
    auto padded = static_cast<int64_t>(llvm::alignTo(size, ranks * wanted));
    if (padded - size <= size / 16)
      return padded;
  }
  return static_cast<int64_t>(llvm::alignTo(size, ranks));
}

/// The classes of dimensions to pad, and the number of ranks that share each.
llvm::DenseMap<unsigned, int64_t>
PadVocabulary::findPadded(func::FuncOp function, DimensionClasses &classes) {
  llvm::DenseMap<unsigned, int64_t> padded, split;
  for (BlockArgument argument : function.getArguments())
    if (auto dims = function.getArgAttrOfType<DictionaryAttr>(
            argument.getArgNumber(), attr::splitDims)) {
      auto own = dims.getAs<IntegerAttr>(tensorAxis);
      if (!own)
        continue;
      int64_t dim = own.getInt();
      unsigned number = classes.getClass(argument, dim);
      split[number] = tp;
      if (cast<ShapedType>(argument.getType()).getDimSize(dim) % tp != 0)
        padded[number] = tp;
    }
  for (auto loss : function.getOps<CrossEntropyOp>()) {
    ArrayRef<int64_t> shape = loss.getLogits().getType().getShape();
    unsigned number = classes.getClass(loss.getLogits(), shape.size() - 1);
    int64_t ranks = split.contains(number) ? tp : 1;
    if (getPadded(shape.back(), ranks) != shape.back() &&
        !classes[number].isWhole && classes[number].canBePadded() &&
        findPaddingObstacle(function, classes, number).empty())
      padded[number] = ranks;
  }
  return padded;
}

void PadVocabulary::run(func::FuncOp function) {
  DimensionClasses classes(function);
  llvm::DenseMap<unsigned, int64_t> padded = findPadded(function, classes);
  if (padded.empty())
    return;

  for (auto loss : function.getOps<CrossEntropyOp>()) {
    RankedTensorType logits = loss.getLogits().getType();
    if (padded.contains(
            classes.getClass(loss.getLogits(), logits.getRank() - 1)))
      loss.setClasses(logits.getShape().back());
  }
  auto pad = [&](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    for (int64_t dim : llvm::seq(type.getRank())) {
      auto own = padded.find(classes.getClass(value, dim));
      if (own == padded.end())
        continue;
      if (auto argument = dyn_cast<BlockArgument>(value))
        noteTensor(function, argument, dim);
      shape[dim] = getPadded(shape[dim], own->second);
    }
    value.setType(type.clone(shape));
  };
  Operation *end = function.front().getTerminator();
  SmallVector<std::tuple<OpOperand *, int64_t, int64_t>> masks;
  for (OpOperand &result : end->getOpOperands()) {
    auto type = cast<RankedTensorType>(result.get().getType());
    if (isa<BlockArgument>(result.get()))
      continue;
    if (unsigned number = result.getOperandNumber();
        isRecorded(function, number)) { // written without padding
      function.setResultAttr(
          number, attr::unpadded,
          DenseI64ArrayAttr::get(&getContext(), type.getShape()));
      continue;
    }
    for (int64_t dim : llvm::seq(type.getRank()))
      if (padded.contains(classes.getClass(result.get(), dim)))
        masks.emplace_back(&result, dim, type.getDimSize(dim));
  }
  llvm::for_each(function.getArguments(), pad);
  for (Operation &op : function.front().without_terminator())
    llvm::for_each(op.getResults(), pad);
  for (auto [result, dim, size] : masks)
    maskResult(*result, dim, size);
  function.setType(FunctionType::get(&getContext(),
                                     function.front().getArgumentTypes(),
                                     end->getOperandTypes()));
}
