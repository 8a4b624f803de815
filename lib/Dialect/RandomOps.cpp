//===- RandomOps.cpp - constraints of random numbers ----------------------===//
//
// Verifies that a part of random numbers knows its index.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dtc;

/// The axes that split a dimension into more than one part, major to minor.
static SmallVector<StringRef> getSplitters(Type type, int64_t dim) {
  SmallVector<StringRef> axes;
  LayoutAttr layout = getLayout(type);
  for (StringAttr axis : layout.getAxesOfDim(dim))
    if (layout.getMesh().getSize(axis.getValue()) > 1)
      axes.push_back(axis.getValue());
  return axes;
}

LogicalResult RandomUniformOp::verify() {
  RankedTensorType type = getResult().getType();
  int64_t open = llvm::count(getWays(), 0);
  if (getDims().size() + open != getParts().size() ||
      getWays().size() != getDims().size() || open > 1)
    return emitOpError("has ")
           << getParts().size() << " parts, of " << getDims().size()
           << " dimensions in " << getWays().size()
           << " ways, expected as many of each, and one more if one of the "
              "ways is 0";
  for (auto [part, dim] : llvm::zip_equal(getNumbers(), getDims())) {
    auto own = cast<RankedTensorType>(part.getType());
    if (!own.getElementType().isInteger(64) || dim < 0 ||
        dim >= type.getRank() || own.getRank() != 1 || own.getDimSize(0) == 0 ||
        type.getDimSize(dim) % own.getDimSize(0))
      return emitOpError("has a part ")
             << own << " of dimension " << dim << " of " << type
             << ", expected one number for each of its parts";
  }
  if (Value ways = getOpenWays()) {
    auto own = cast<RankedTensorType>(ways.getType());
    if (own.getRank() != 0 || !own.getElementType().isF64())
      return emitOpError("has ways ") << own << ", expected tensor<f64>";
  }
  if (!getLayout(type))
    return success();
  for (int64_t dim : llvm::seq<int64_t>(0, type.getRank())) {
    SmallVector<StringRef> known;
    for (auto [part, own] : llvm::zip_equal(getNumbers(), getDims()))
      if (own == dim && getLayout(part.getType()))
        llvm::append_range(known, getSplitters(part.getType(), 0));
    SmallVector<StringRef> axes = getSplitters(type, dim);
    if (axes != known)
      return emitOpError("is split along dimension ")
             << dim << " by (" << llvm::join(axes, ", ")
             << "), but is told its part by (" << llvm::join(known, ", ")
             << ")";
  }
  return success();
}

LogicalResult DropoutOp::verify() {
  double probability = getProbability().convertToDouble();
  if (probability >= 0 && probability <= 1)
    return success();
  return emitOpError("has probability ")
         << probability << ", expected one from 0 to 1";
}

Value DropoutOp::buildForEvaluation(OpBuilder &) { return getX(); }
