//===- CrossEntropy.cpp - cross-entropy over split classes ----------------===//
//
// The maximum, the sum of exponentials and the target's logit of each row are
// reduced over the parts of the classes; logits stay where they are
// (Megatron-LM, arXiv 1909.08053, section 3).
//
//===----------------------------------------------------------------------===//

#include "Expansion.h"
#include <limits>

using namespace mlir;
using namespace dtc;

namespace {

/// Values that the loss and its gradient share. Both build them; CSE merges
/// them.
template <typename OpType> class Rows {
public:
  Rows(OpType op, OpBuilder &builder, Value starts)
      : builder(builder), loc(op.getLoc()), logits(op.getLogits()),
        type(withLayout(logits.getType(), {})), classes(type.getRank() - 1) {
    Value labels = op.getLabels();
    isTarget =
        OneHotOp::create(builder, loc, type.clone(builder.getI1Type()), labels,
                         castStarts(builder, loc, starts, labels));
    Value isClass = op.getClasses() ? flagClasses(*op.getClasses()) : Value();
    auto choose = [&](Value value, double other) -> Value {
      if (!isClass)
        return value;
      return SelectOp::create(builder, loc, isClass, value,
                              number(other, type.getElementType()));
    };
    max = ReduceMaxOp::create(
        builder, loc, choose(logits, -std::numeric_limits<double>::infinity()),
        classes);
    exp = choose(
        ExpOp::create(builder, loc, SubOp::create(builder, loc, logits, max)),
        0);
    sum = ReduceSumOp::create(builder, loc, exp, classes);
    if (std::optional<uint64_t> ignored = op.getIgnoreIndex())
      isCounted = compareWith(labels, static_cast<int64_t>(*ignored));
  }

  Value number(double value, Type element) {
    auto scalar = RankedTensorType::get({}, element);
    return ConstantOp::create(
        builder, loc, scalar,
        DenseElementsAttr::get(scalar, builder.getFloatAttr(element, value)));
  }
  Value zero() { return number(0, type.getElementType()); }

  OpBuilder &builder;
  Location loc;
  Value logits;
  RankedTensorType type;
  int64_t classes; ///< the class dimension
  Value isTarget;  ///< [rows, classes]
  Value max, exp, sum;
  Value isCounted; ///< [rows, 1]; null if all labels count

private:
  /// Flags the columns that are classes; the columns after them are padding.
  Value flagClasses(int64_t number) {
    SmallVector<bool> flags(type.getDimSize(classes), false);
    std::fill_n(flags.begin(), number, true);
    auto flagType =
        RankedTensorType::get(type.getDimSize(classes), builder.getI1Type());
    return ConstantOp::create(builder, loc, flagType,
                              DenseElementsAttr::get(flagType, flags));
  }
  Value compareWith(Value labels, int64_t ignored) {
    auto labelType = cast<RankedTensorType>(labels.getType());
    SmallVector<int64_t> shape(labelType.getShape());
    shape.push_back(1);
    Type element = labelType.getElementType();
    auto scalar = RankedTensorType::get({}, element);
    return CompareOp::create(
        builder, loc, Comparison::ne,
        ReshapeOp::create(builder, loc, RankedTensorType::get(shape, element),
                          labels),
        ConstantOp::create(
            builder, loc, scalar,
            DenseElementsAttr::get(scalar,
                                   builder.getIntegerAttr(element, ignored))));
  }
};

/// Operand 0 of both ops holds the logits, with classes on a dimension.
template <typename Model, typename OpType>
struct ClassesExpansion
    : SplitExpansionInterface::ExternalModel<Model, OpType> {
  std::optional<int64_t> getSplittableDim(Operation *op,
                                          unsigned operand) const {
    if (operand != 0)
      return std::nullopt;
    return cast<ShapedType>(op->getOperand(0).getType()).getRank() - 1;
  }
  std::optional<int64_t> getSplittableResultDim(Operation *) const {
    return std::nullopt;
  }
};

struct CrossEntropyExpansion
    : ClassesExpansion<CrossEntropyExpansion, CrossEntropyOp> {
  SmallVector<Value> expandSplit(Operation *op, OpBuilder &builder,
                                 Value starts) const {
    Rows<CrossEntropyOp> rows(cast<CrossEntropyOp>(op), builder, starts);
    Location loc = rows.loc;
    Value target = ReduceSumOp::create(
        builder, loc,
        SelectOp::create(builder, loc, rows.isTarget, rows.logits, rows.zero()),
        rows.classes);
    Value loss =
        AddOp::create(builder, loc, LogOp::create(builder, loc, rows.sum),
                      SubOp::create(builder, loc, rows.max, target));
    if (rows.isCounted)
      loss = SelectOp::create(builder, loc, rows.isCounted, loss, rows.zero());
    auto rowType = withLayout(loss.getType(), {});
    loss =
        CastOp::create(builder, loc, rowType.clone(builder.getF64Type()), loss);
    loss = ReduceSumOp::create(
        builder, loc, loss,
        llvm::to_vector(llvm::seq<int64_t>(0, rowType.getRank())));
    return {ReshapeOp::create(
        builder, loc, RankedTensorType::get({}, builder.getF64Type()), loss)};
  }
};

struct CrossEntropyGradExpansion
    : ClassesExpansion<CrossEntropyGradExpansion, CrossEntropyGradOp> {
  SmallVector<Value> expandSplit(Operation *op, OpBuilder &builder,
                                 Value starts) const {
    auto gradient = cast<CrossEntropyGradOp>(op);
    Rows<CrossEntropyGradOp> rows(gradient, builder, starts);
    Location loc = rows.loc;
    Type element = rows.type.getElementType();
    Value weight = gradient.getDloss();
    if (getElementTypeOrSelf(weight) != element)
      weight = CastOp::create(builder, loc, RankedTensorType::get({}, element),
                              weight);
    if (rows.isCounted)
      weight =
          SelectOp::create(builder, loc, rows.isCounted, weight, rows.zero());
    Value p = MulOp::create(builder, loc, rows.exp,
                            ReciprocalOp::create(builder, loc, rows.sum));
    Value q = SelectOp::create(
        builder, loc, rows.isTarget,
        SubOp::create(builder, loc, p, rows.number(1, element)), p);
    return {MulOp::create(builder, loc, q, weight)};
  }
};

} // namespace

void dtc::registerCrossEntropyExpansions(MLIRContext *context) {
  CrossEntropyOp::attachInterface<CrossEntropyExpansion>(*context);
  CrossEntropyGradOp::attachInterface<CrossEntropyGradExpansion>(*context);
}
