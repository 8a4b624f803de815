//===- LowerBFloat16.cpp - lowering of bf16 to i16 ------------------------===//
//
// No op computes in bf16: values are only moved, and their bits converted. If a
// processor has no bf16 registers, LLVM moves a vector that lives across blocks
// as f32, one element at a time, and rounds each with a library call. LLVM
// moves integers directly.
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

/// The attribute with the same bits in an integer type.
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
