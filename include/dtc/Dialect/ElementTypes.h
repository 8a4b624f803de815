//===- ElementTypes.h - MLIR's element types in dtc's table -----*- C++ -*-===//

#ifndef DTC_DIALECT_ELEMENTTYPES_H
#define DTC_DIALECT_ELEMENTTYPES_H

#include "dtc/Support/ElementType.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

namespace dtc {

/// The table's entry of an element type, or of a tensor's element type. Fatal
/// error if the table lacks it; it has every type that ops accept (OpBase.td).
const ElementType &getElementType(mlir::Type type);

/// Whether a type, or a tensor's element type, is f16 or bf16.
inline bool isFloat16(mlir::Type type) {
  return mlir::getElementTypeOrSelf(type).isF16() ||
         mlir::getElementTypeOrSelf(type).isBF16();
}

/// The type of arithmetic and sums of elements: f32 for f16 and bf16, else the
/// type itself.
inline mlir::Type getComputeType(mlir::Type elementType) {
  return isFloat16(elementType)
             ? mlir::Float32Type::get(elementType.getContext())
             : elementType;
}

} // namespace dtc

#endif // DTC_DIALECT_ELEMENTTYPES_H
