//===- HostTensor.h - a constant tensor known at import ---------*- C++ -*-===//
//
// The element types of the frontend, and tensors whose values are known at
// import. Most shape operators are strided views of such tensors.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_SUPPORT_HOSTTENSOR_H
#define DTC_FRONTEND_SUPPORT_HOSTTENSOR_H

#include "dtc/Support/ElementType.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dtc::frontend {

using Shape = llvm::SmallVector<int64_t, 4>;

/// The element types that the importer supports. The values are the codes of
/// dtc/Support/ElementType.h.
enum class DType {
  F32 = DTC_F32,
  F64 = DTC_F64,
  I32 = DTC_I32,
  I64 = DTC_I64,
  Bool = DTC_BOOL
};

bool isFloat(DType dtype);
/// Bytes of one element in ONNX's raw data.
int64_t byteSize(DType dtype);
llvm::StringRef toString(DType dtype);
/// Name of the element type in safetensors: "F32", "I64".
llvm::StringRef getSafetensorsName(DType dtype);
std::string toString(llvm::ArrayRef<int64_t> shape);

/// Product of the dimensions. Saturates at the largest int64_t.
int64_t numElements(llvm::ArrayRef<int64_t> shape);
Shape rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// A tensor in host memory, in row-major order. Floats are kept as double and
/// integers as int64_t; stored values are rounded to `dtype`. For + - * / and
/// sqrt the result equals that of float arithmetic, since double has more than
/// twice the bits of a float.
class HostTensor {
public:
  HostTensor(DType dtype, llvm::ArrayRef<int64_t> shape);
  static HostTensor scalar(DType dtype, double value);
  static HostTensor fromInts(llvm::ArrayRef<int64_t> values);

  DType dtype() const { return elementType; }
  llvm::ArrayRef<int64_t> shape() const { return dims; }
  int64_t rank() const { return dims.size(); }
  int64_t size() const { return count; }
  bool isFloat() const { return frontend::isFloat(elementType); }

  double getFloat(int64_t i) const { return isFloat() ? floats[i] : ints[i]; }
  int64_t getInt(int64_t i) const;
  void setFloat(int64_t i, double value);
  void setInt(int64_t i, int64_t value);
  /// Copies one element, and converts it if the types differ.
  void copy(int64_t to, const HostTensor &source, int64_t from);
  bool equal(int64_t i, int64_t j) const;

  std::vector<int64_t> toInts() const;
  HostTensor reshaped(llvm::ArrayRef<int64_t> shape) const;
  HostTensor cast(DType dtype) const;
  /// out[i] = this[offset + sum(i[d] * strides[d])]
  HostTensor view(llvm::ArrayRef<int64_t> shape,
                  llvm::ArrayRef<int64_t> strides, int64_t offset = 0) const;
  /// Broadcasts as NumPy does. `shape` must be compatible.
  HostTensor broadcast(llvm::ArrayRef<int64_t> shape) const;
  HostTensor transposed(llvm::ArrayRef<int64_t> permutation) const;
  /// Reduces each dimension along which all values are equal to size 1.
  HostTensor compacted() const;

private:
  DType elementType;
  Shape dims;
  int64_t count;
  std::vector<double> floats;
  std::vector<int64_t> ints;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SUPPORT_HOSTTENSOR_H
