//===- ElementType.h - element types of tensors -----------------*- C++ -*-===//
//
// One table of all element types of files, buffers and collectives, shared by
// compiler and runtime. Readers reject any other type. No LLVM, no MPI.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SUPPORT_ELEMENTTYPE_H
#define DTC_SUPPORT_ELEMENTTYPE_H

#include "dtc/Runtime/ABI.h"

#include <string_view>

namespace dtc {

enum class ElementKind { Float, Signed, Unsigned, Bool };

struct ElementType {
  dtc_dtype code;
  ElementKind kind;
  int bytes;
  const char *name;        ///< in the manifest and in messages
  int onnx;                ///< onnx::TensorProto::DataType
  const char *npy;         ///< type code of a .npy header; null if it has none
  const char *safetensors; ///< `dtype` of a safetensors header
  dtc_dtype sums;          ///< the type of sums of such elements
};

/// Indexed by dtc_dtype. f16 and bf16 are storage types: arithmetic on them is
/// f32, and each stored result is rounded once, to nearest even.
inline constexpr ElementType elementTypes[] = {
    {DTC_F32, ElementKind::Float, 4, "f32", 1, "f4", "F32", DTC_F32},
    {DTC_F64, ElementKind::Float, 8, "f64", 11, "f8", "F64", DTC_F64},
    {DTC_I32, ElementKind::Signed, 4, "i32", 6, "i4", "I32", DTC_I32},
    {DTC_I64, ElementKind::Signed, 8, "i64", 7, "i8", "I64", DTC_I64},
    {DTC_BOOL, ElementKind::Bool, 1, "bool", 9, "b1", "BOOL", DTC_BOOL},
    {DTC_BF16, ElementKind::Float, 2, "bf16", 16, nullptr, "BF16", DTC_F32},
    {DTC_F16, ElementKind::Float, 2, "f16", 10, "f2", "F16", DTC_F32},
    {DTC_I8, ElementKind::Signed, 1, "i8", 3, "i1", "I8", DTC_I32},
    {DTC_I16, ElementKind::Signed, 2, "i16", 5, "i2", "I16", DTC_I32},
    {DTC_U8, ElementKind::Unsigned, 1, "u8", 2, "u1", "U8", DTC_I32},
    {DTC_U16, ElementKind::Unsigned, 2, "u16", 4, "u2", "U16", DTC_I32},
    {DTC_U32, ElementKind::Unsigned, 4, "u32", 12, "u4", "U32", DTC_I64},
    {DTC_U64, ElementKind::Unsigned, 8, "u64", 13, "u8", "U64", DTC_I64},
};

inline constexpr int numElementTypes =
    sizeof(elementTypes) / sizeof(elementTypes[0]);

constexpr bool isElementType(int64_t code) {
  return code >= 0 && code < numElementTypes;
}

constexpr const ElementType &getElementType(dtc_dtype code) {
  return elementTypes[code];
}

constexpr int64_t sizeOf(dtc_dtype code) { return getElementType(code).bytes; }

constexpr bool isFloat(dtc_dtype code) {
  return getElementType(code).kind == ElementKind::Float;
}

/// The type with `name` in `column`; null if there is none.
constexpr const ElementType *findElementType(const char *ElementType::*column,
                                             std::string_view name) {
  for (const ElementType &type : elementTypes)
    if (type.*column && name == type.*column)
      return &type;
  return nullptr;
}

namespace detail {
constexpr bool isIndexedByCode() {
  for (int i = 0; i < numElementTypes; ++i)
    if (elementTypes[i].code != i)
      return false;
  return true;
}
} // namespace detail
static_assert(detail::isIndexedByCode());

} // namespace dtc

#endif // DTC_SUPPORT_ELEMENTTYPE_H
