//===- StructuredBuilder.cpp - linalg from scalar functions ---------------===//
//
// Builds the indexing maps and iterators of linalg.generic.
//
//===----------------------------------------------------------------------===//

#include "StructuredBuilder.h"

using namespace mlir;
using namespace dtc;

/// The map of an operand that broadcasts to `shape` by NumPy's rules.
static AffineMap getBroadcastMap(Builder &b, ArrayRef<int64_t> shape,
                                 Value operand) {
  ArrayRef<int64_t> from = cast<RankedTensorType>(operand.getType()).getShape();
  SmallVector<AffineExpr> indices;
  for (size_t i = 0; i < from.size(); ++i) {
    size_t dim = shape.size() - from.size() + i;
    indices.push_back(from[i] == shape[dim] ? b.getAffineDimExpr(dim)
                                            : b.getAffineConstantExpr(0));
  }
  return AffineMap::get(shape.size(), 0, indices, b.getContext());
}

static SmallVector<AffineMap>
getBroadcastMaps(Builder &b, ArrayRef<int64_t> shape, ValueRange operands) {
  return llvm::map_to_vector(operands, [&](Value operand) {
    return getBroadcastMap(b, shape, operand);
  });
}

static Value
buildGeneric(StructuredBuilder &b, Value init, ValueRange operands,
             ArrayRef<AffineMap> maps, ArrayRef<utils::IteratorType> iterators,
             llvm::function_ref<Value(StructuredBuilder &, ValueRange)> body) {
  return linalg::GenericOp::create(
             b, init.getType(), operands, init, maps, iterators,
             [&](OpBuilder &nested, Location loc, ValueRange elements) {
               StructuredBuilder inner(loc, nested);
               Value result = body(inner, elements);
               linalg::YieldOp::create(inner, result);
             })
      .getResult(0);
}

static Value createEmpty(StructuredBuilder &b, RankedTensorType type) {
  return tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
}

Value StructuredBuilder::map(RankedTensorType type, ValueRange operands,
                             Body body) {
  return map(type, operands, getBroadcastMaps(*this, type.getShape(), operands),
             body);
}

Value StructuredBuilder::map(RankedTensorType type, ValueRange operands,
                             ArrayRef<AffineMap> maps, Body body) {
  SmallVector<AffineMap> all(maps);
  all.push_back(getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return buildGeneric(*this, createEmpty(*this, type), operands, all, iterators,
                      [&](StructuredBuilder &b, ValueRange elements) {
                        return body(b, elements.drop_back());
                      });
}

Value StructuredBuilder::update(Value target, ValueRange operands, Body body) {
  auto type = cast<RankedTensorType>(target.getType());
  SmallVector<AffineMap> maps =
      getBroadcastMaps(*this, type.getShape(), operands);
  maps.push_back(getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return buildGeneric(*this, target, operands, maps, iterators, body);
}

Value StructuredBuilder::reduce(RankedTensorType type, Combiner combiner,
                                ArrayRef<int64_t> domain,
                                ArrayRef<int64_t> axes, ValueRange operands,
                                Body body) {
  SmallVector<AffineMap> maps = getBroadcastMaps(*this, domain, operands);
  SmallVector<utils::IteratorType> iterators(domain.size(),
                                             utils::IteratorType::parallel);
  SmallVector<AffineExpr> indices;
  for (size_t dim = 0; dim < domain.size(); ++dim) {
    bool reduced = llvm::is_contained(axes, static_cast<int64_t>(dim));
    if (reduced)
      iterators[dim] = utils::IteratorType::reduction;
    indices.push_back(reduced ? getAffineConstantExpr(0)
                              : getAffineDimExpr(dim));
  }
  if (type.getRank() == 0)
    indices.clear();
  maps.push_back(AffineMap::get(domain.size(), 0, indices, getContext()));

  double neutral = combiner == Combiner::Sum
                       ? 0.0
                       : -std::numeric_limits<double>::infinity();
  Value init =
      linalg::FillOp::create(*this, constant(type.getElementType(), neutral),
                             createEmpty(*this, type))
          .getResult(0);
  return buildGeneric(*this, init, operands, maps, iterators,
                      [&](StructuredBuilder &b, ValueRange elements) -> Value {
                        Value x = body(b, elements.drop_back());
                        Value accumulator = elements.back();
                        switch (combiner) {
                        case Combiner::Sum:
                          return arith::AddFOp::create(b, accumulator, x);
                        case Combiner::Max:
                          return arith::MaximumFOp::create(b, accumulator, x);
                        case Combiner::MaxNumber:
                          return arith::MaxNumFOp::create(b, accumulator, x);
                        }
                        llvm_unreachable("all combiners are handled");
                      });
}

Value StructuredBuilder::reduceRows(Combiner combiner, Type elementType,
                                    ValueRange operands, Body body) {
  ArrayRef<int64_t> domain =
      cast<RankedTensorType>(operands.front().getType()).getShape();
  SmallVector<int64_t> shape(domain);
  shape.back() = 1;
  return reduce(RankedTensorType::get(shape, elementType), combiner, domain,
                static_cast<int64_t>(domain.size()) - 1, operands, body);
}

Value StructuredBuilder::constant(Type type, double value) {
  TypedAttr attribute =
      isa<FloatType>(type)
          ? cast<TypedAttr>(getFloatAttr(type, value))
          : cast<TypedAttr>(getIntegerAttr(type, static_cast<int64_t>(value)));
  return arith::ConstantOp::create(*this, attribute);
}

Value StructuredBuilder::castFloat(Value x, Type type) {
  unsigned from = x.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (from < to)
    return arith::ExtFOp::create(*this, type, x);
  return from > to ? arith::TruncFOp::create(*this, type, x) : x;
}
