//===- SplitFusedParameters.cpp - take fused projections apart ------------===//
//
// One product that computes queries, keys and values has a weight whose parts
// lie side by side; cut into equal parts for ranks, the first rank would hold
// queries alone. Each part becomes a parameter of its own.
//
//===----------------------------------------------------------------------===//

#include "dtc/Parallel/Passes.h"
#include "dtc/Training/StepFunction.h"

namespace dtc {
#define GEN_PASS_DEF_SPLITFUSEDPARAMETERS
#include "dtc/Parallel/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// Rewrites one dtc.split, from its result up to the parameters.
class FusedSplit {
public:
  FusedSplit(func::FuncOp function, SplitOp op)
      : function(function), op(op), builder(op) {}

  /// Whether the last dimension of a value comes from parameters alone, and
  /// nothing but the split needs it.
  bool canSplit(Value value, int64_t dim);
  void run() {
    SmallVector<Value> parts = split(op.getX(), op.getAxis());
    op->replaceAllUsesWith(parts);
  }

private:
  static int64_t getLastDim(Value value) {
    return cast<ShapedType>(value.getType()).getRank() - 1;
  }
  /// The dimension of a weight that is the result's last.
  static int64_t getColumnDim(MatMulOp product) {
    return getLastDim(product.getRhs()) - (product.getTransposeRhs() ? 1 : 0);
  }
  /// Which part of a tensor a parameter is already; null if the whole.
  DictionaryAttr getPart(BlockArgument argument) {
    return function.getArgAttrOfType<DictionaryAttr>(argument.getArgNumber(),
                                                     attr::part);
  }
  SmallVector<Value> split(Value value, int64_t dim);
  SmallVector<Value> splitParameter(BlockArgument argument, int64_t dim);

  func::FuncOp function;
  SplitOp op;
  OpBuilder builder;
};

} // namespace

bool FusedSplit::canSplit(Value value, int64_t dim) {
  if (!value.hasOneUse())
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto part = getPart(argument);
    return function.getArgAttr(argument.getArgNumber(), attr::parameter) &&
           (!part || part.getAs<IntegerAttr>("dim").getInt() == dim);
  }
  Operation *producer = value.getDefiningOp();
  if (dim != getLastDim(value))
    return false;
  int64_t size = cast<ShapedType>(value.getType()).getDimSize(dim);
  auto splitsLast = [&](Value operand) {
    auto type = cast<ShapedType>(operand.getType());
    return type.getRank() > 0 && type.getShape().back() == size &&
           canSplit(operand, type.getRank() - 1);
  };
  if (auto sum = dyn_cast<AddOp>(producer))
    return splitsLast(sum.getLhs()) && splitsLast(sum.getRhs());
  if (auto reshape = dyn_cast<ReshapeOp>(producer))
    return splitsLast(reshape.getX());
  if (auto product = dyn_cast<MatMulOp>(producer))
    return canSplit(product.getRhs(), getColumnDim(product));
  return false;
}

/// Inserts an argument for each part before the fused one.
SmallVector<Value> FusedSplit::splitParameter(BlockArgument argument,
                                              int64_t dim) {
  unsigned number = argument.getArgNumber();
  auto type = cast<RankedTensorType>(argument.getType());
  DictionaryAttr attributes = function.getArgAttrDict(number);
  auto name = cast<StringAttr>(attributes.get(attr::parameter));
  SmallVector<Value> parts;
  // Files know the tensor of the model, which may be in parts already.
  StringAttr tensor = name;
  DenseI64ArrayAttr whole = builder.getDenseI64ArrayAttr(type.getShape());
  int64_t start = 0;
  if (DictionaryAttr part = getPart(argument)) {
    tensor = part.getAs<StringAttr>("tensor");
    whole = part.getAs<DenseI64ArrayAttr>("shape");
    start = part.getAs<IntegerAttr>("start").getInt();
  }
  for (auto [i, part] : llvm::enumerate(op.getParts())) {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = cast<ShapedType>(part.getType()).getShape().back();
    NamedAttrList list(attributes);
    list.set(attr::parameter,
             builder.getStringAttr(name.getValue() + "/" + Twine(i)));
    list.set(
        attr::part,
        builder.getDictionaryAttr(
            {builder.getNamedAttr("tensor", tensor),
             builder.getNamedAttr("shape", whole),
             builder.getNamedAttr("dim", builder.getI64IntegerAttr(dim)),
             builder.getNamedAttr("start", builder.getI64IntegerAttr(start))}));
    auto partType = RankedTensorType::get(shape, type.getElementType());
    unsigned position = number + i;
    (void)function.insertArgument(position, partType,
                                  list.getDictionary(builder.getContext()),
                                  argument.getLoc());
    parts.push_back(function.getArgument(position));
    start += shape[dim];
  }
  return parts;
}

SmallVector<Value> FusedSplit::split(Value value, int64_t dim) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return splitParameter(argument, dim);
  Operation *producer = value.getDefiningOp();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(producer);
  SmallVector<SmallVector<Value>> operands;
  if (auto product = dyn_cast<MatMulOp>(producer)) {
    SmallVector<Value> weights = split(product.getRhs(), getColumnDim(product));
    operands.assign(
        {SmallVector<Value>(weights.size(), product.getLhs()), weights});
  } else {
    for (Value operand : producer->getOperands())
      operands.push_back(split(operand, getLastDim(operand)));
  }
  SmallVector<Value> parts;
  for (auto [i, part] : llvm::enumerate(op.getParts())) {
    SmallVector<Value> own;
    for (ArrayRef<Value> list : operands)
      own.push_back(list[i]);
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = cast<ShapedType>(part.getType()).getShape().back();
    Operation *clone = builder.clone(*producer);
    clone->setOperands(own);
    clone->getResult(0).setType(
        RankedTensorType::get(shape, type.getElementType()));
    parts.push_back(clone->getResult(0));
  }
  return parts;
}

namespace {

struct SplitFusedParameters
    : dtc::impl::SplitFusedParametersBase<SplitFusedParameters> {
  using SplitFusedParametersBase::SplitFusedParametersBase;

  void runOnOperation() override {
    if (tp == 1)
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      run(function);
  }

  void run(func::FuncOp function) {
    for (SplitOp op : llvm::to_vector(function.getOps<SplitOp>())) {
      FusedSplit split(function, op);
      int64_t last = cast<ShapedType>(op.getX().getType()).getRank() - 1;
      if (static_cast<int64_t>(op.getAxis()) == last &&
          split.canSplit(op.getX(), last))
        split.run();
    }
    // What computed the fused values is dead now, down to their parameters.
    llvm::BitVector fused(function.getNumArguments());
    for (BlockArgument argument : function.getArguments())
      fused[argument.getArgNumber()] = !argument.use_empty();
    eraseDeadOps(function);
    for (BlockArgument argument : function.getArguments())
      if (!argument.use_empty())
        fused.reset(argument.getArgNumber());
    (void)function.eraseArguments(fused);
  }
};

} // namespace
