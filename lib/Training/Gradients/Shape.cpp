//===- Shape.cpp - gradients of data movement -----------------------------===//
//
// Each rule is the transpose of the op.
//
//===----------------------------------------------------------------------===//

#include "Vjp.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace dtc {

static void differentiate(ReshapeOp op, Vjp &d) {
  d.set(0, d.reshape(d.grad(), op.getX().getType()));
}

static void differentiate(TransposeOp op, Vjp &d) {
  d.set(0, d.create<TransposeOp>(d.grad(),
                                 invertPermutationVector(op.getPermutation())));
}

/// Vjp::set sums over broadcast dimensions.
static void differentiate(BroadcastOp, Vjp &d) { d.set(0, d.grad()); }

static void differentiate(SliceOp op, Vjp &d) {
  d.set(0, d.create<PadOp>(op.getX().getType(), d.grad(), op.getAxis(),
                           op.getStart()));
}

static void differentiate(PadOp op, Vjp &d) {
  d.set(0, d.create<SliceOp>(op.getX().getType(), d.grad(), op.getAxis(),
                             op.getStart()));
}

/// The gradients of the parts are concatenated. If some parts have none, the
/// others are padded, which needs no tensor of zeros.
static void differentiate(SplitOp op, Vjp &d) {
  Type type = op.getX().getType();
  SmallVector<Value> parts;
  for (unsigned i = 0; i < op.getNumResults(); ++i)
    parts.push_back(d.grad(i));
  if (llvm::all_of(parts, [](Value part) { return bool(part); }))
    return d.set(0, d.create<ConcatOp>(type, parts, op.getAxis()));
  Value sum;
  int64_t start = 0;
  for (auto [part, g] : llvm::zip_equal(op.getParts(), parts)) {
    if (g) {
      Value padded = d.create<PadOp>(type, g, op.getAxis(), start);
      sum = sum ? d.add(sum, padded) : padded;
    }
    start += cast<ShapedType>(part.getType()).getDimSize(op.getAxis());
  }
  d.set(0, sum);
}

static void differentiate(ConcatOp op, Vjp &d) {
  auto split =
      d.create<SplitOp>(op.getParts().getTypes(), d.grad(), op.getAxis());
  for (auto [i, part] : llvm::enumerate(split.getParts()))
    d.set(i, part);
}

void attachShapeGradients(MLIRContext &context) {
  attachGradients<ReshapeOp, TransposeOp, BroadcastOp, SliceOp, PadOp, SplitOp,
                  ConcatOp>(context);
}

} // namespace dtc
