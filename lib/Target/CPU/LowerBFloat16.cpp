//===- LowerBFloat16.cpp - bf16 in registers is an integer ----------------===//
//
// Nothing computes in bf16, so its values are only moved, and their bits are
// looked at. Where processors have no registers of bf16, LLVM moves a vector
// that lives in several blocks as f32, one element at a time, and rounds each
// by a library's function. Integers it just moves.
//
//===----------------------------------------------------------------------===//

#include "dtc/Target/CPU/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace dtc {
#define GEN_PASS_DEF_LOWERBFLOAT16
#include "dtc/Target/CPU/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// The same bits.
static Attribute toInteger(Attribute value, Type integer) {
  if (auto elements = dyn_cast<DenseElementsAttr>(value))
    return elements.bitcast(integer);
  return IntegerAttr::get(integer,
                          cast<FloatAttr>(value).getValue().bitcastToAPInt());
}

namespace {

struct LowerBFloat16 : dtc::impl::LowerBFloat16Base<LowerBFloat16> {
  void runOnOperation() override {
    Type integer = IntegerType::get(&getContext(), 16);
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](BFloat16Type) { return integer; });
    getOperation()->walk([&](Operation *op) {
      if (auto constant = dyn_cast<LLVM::ConstantOp>(op);
          constant && getElementTypeOrSelf(constant.getType()).isBF16())
        constant.setValueAttr(toInteger(constant.getValue(), integer));
      replacer.replaceElementsIn(op, /*replaceAttrs=*/false,
                                 /*replaceLocs=*/false, /*replaceTypes=*/true);
    });
  }
};

} // namespace
