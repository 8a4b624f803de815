//===- SplitFusedParameters.cpp - split fused projections -----------------===//
//
// One product that computes queries, keys and values has a weight whose parts
// lie side by side. If ranks got equal parts of it, the first rank would hold
// queries alone. So each part becomes a parameter of its own.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/StepFunction.h"
#include "dtc/Strategy/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_SPLITFUSEDPARAMETERS
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// Rewrites one split, from its parts up to the parameters.
class FusedSplit {
public:
  FusedSplit(func::FuncOp function, SplitOp cut)
      : function(function), cut(cut), builder(function.getContext()) {}

  /// Finds the value whose last dimension is cut, through the reshape to [..,
  /// 3, heads, width], and returns whether it comes from parameters alone.
  bool isFused();
  void run();

private:
  static int64_t getLastDim(Value value) {
    return cast<ShapedType>(value.getType()).getRank() - 1;
  }
  /// The dimension of a product's weight, its second operand, that becomes the
  /// last of the result; none if the op is no product.
  static std::optional<int64_t> getColumnDim(Operation *op) {
    if (auto product = dyn_cast<MatMulOp>(op))
      return getLastDim(product.getRhs()) - int64_t(product.getTransposeRhs());
    if (auto product = dyn_cast<GroupedMatMulOp>(op))
      return 2 - int64_t(product.getTransposeWeights());
    return std::nullopt;
  }
  /// The part of a tensor that a parameter already is; null if it is whole.
  DictionaryAttr getPart(BlockArgument argument) {
    return function.getArgAttrOfType<DictionaryAttr>(argument.getArgNumber(),
                                                     attr::part);
  }
  /// Whether the last dimension of a value comes from parameters alone, and the
  /// value has no other user.
  bool canSplit(Value value, int64_t dim) {
    return value.hasOneUse() && canSplitProducer(value, dim);
  }
  bool canSplitProducer(Value value, int64_t dim);
  SmallVector<Value> split(Value value, int64_t dim);
  SmallVector<Value> splitParameter(BlockArgument argument, int64_t dim);

  func::FuncOp function;
  SplitOp cut;
  OpBuilder builder;
  /// The value that is cut along its last dimension into parts of these sizes.
  Value fused;
  SmallVector<int64_t> sizes;
  /// Reshapes `fused` to the operand of the cut; null if they are the same.
  ReshapeOp reshape;
};

} // namespace

/// The dimension of a reshape's result that is the major part of the operand's
/// last one; none if the reshape splits that differently.
static std::optional<int64_t> getMajorOfLast(ReshapeOp reshape) {
  ArrayRef<int64_t> from = reshape.getX().getType().getShape();
  ArrayRef<int64_t> to = reshape.getY().getType().getShape();
  int64_t dim = to.size(), size = 1;
  while (dim > 0 && !from.empty() && size < from.back())
    size *= to[--dim];
  if (from.empty() || size != from.back() ||
      dim == static_cast<int64_t>(to.size()))
    return std::nullopt;
  return dim;
}

bool FusedSplit::isFused() {
  fused = cut.getX();
  auto axis = static_cast<int64_t>(cut.getAxis());
  for (Value part : cut.getParts())
    sizes.push_back(cast<ShapedType>(part.getType()).getDimSize(axis));
  if (axis == getLastDim(fused))
    return canSplit(fused, axis);
  reshape = fused.getDefiningOp<ReshapeOp>();
  if (!reshape || !fused.hasOneUse() || getMajorOfLast(reshape) != axis)
    return false;
  fused = reshape.getX();
  int64_t columns = reshape.getX().getType().getShape().back();
  for (int64_t &size : sizes)
    size *= columns / reshape.getY().getType().getDimSize(axis);
  return canSplit(fused, getLastDim(fused));
}

void FusedSplit::run() {
  for (auto [part, old] :
       llvm::zip(split(fused, getLastDim(fused)), cut.getParts())) {
    if (reshape) {
      builder.setInsertionPoint(reshape);
      part = ReshapeOp::create(builder, reshape.getLoc(),
                               cast<RankedTensorType>(old.getType()), part);
    }
    old.replaceAllUsesWith(part);
  }
}

bool FusedSplit::canSplitProducer(Value value, int64_t dim) {
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
  if (std::optional<int64_t> columns = getColumnDim(producer))
    return canSplit(producer->getOperand(1), *columns);
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
  // Files have the tensor of the model, which may already be in parts.
  StringAttr tensor = name;
  DenseI64ArrayAttr whole = builder.getDenseI64ArrayAttr(type.getShape());
  int64_t start = 0;
  if (DictionaryAttr part = getPart(argument)) {
    tensor = part.getAs<StringAttr>("tensor");
    whole = part.getAs<DenseI64ArrayAttr>("shape");
    start = part.getAs<IntegerAttr>("start").getInt();
  }
  for (auto [i, size] : llvm::enumerate(sizes)) {
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = size;
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
  std::optional<int64_t> columns = getColumnDim(producer);
  for (auto [i, operand] : llvm::enumerate(producer->getOperands()))
    if (!columns)
      operands.push_back(split(operand, getLastDim(operand)));
    else if (i == 1)
      operands.push_back(split(operand, *columns));
    else
      operands.emplace_back(sizes.size(), operand);
  SmallVector<Value> parts;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    SmallVector<Value> own;
    for (ArrayRef<Value> list : operands)
      own.push_back(list[i]);
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = size;
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
      if (split.isFused())
        split.run();
    }
    // The ops of the fused values are dead now, down to their parameters.
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
