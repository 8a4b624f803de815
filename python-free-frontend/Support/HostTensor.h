//===- HostTensor.h - a constant tensor known at import ---------*- C++ -*-===//
//
// Element types of the frontend, tensors whose values are known at import, and
// the strided views from which most shape operators are made.
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

/// The element types that models are imported in, with the table's codes.
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
/// "F32" and the like.
llvm::StringRef getSafetensorsName(DType dtype);
std::string toString(llvm::ArrayRef<int64_t> shape);

/// The largest number if there are more elements than that.
int64_t numElements(llvm::ArrayRef<int64_t> shape);
Shape rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// Values are kept wide, floats as double and integers as int64_t, and rounded
/// to `dtype` when stored. For + - * / and sqrt this gives the very result of
/// float arithmetic, since double has more than twice the bits of a float.
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
  /// Copies one element, converting it if the types differ.
  void copy(int64_t to, const HostTensor &source, int64_t from);
  bool equal(int64_t i, int64_t j) const;

  std::vector<int64_t> toInts() const;
  HostTensor reshaped(llvm::ArrayRef<int64_t> shape) const;
  HostTensor cast(DType dtype) const;
  /// out[i] = this[offset + sum(i[d] * strides[d])]
  HostTensor view(llvm::ArrayRef<int64_t> shape,
                  llvm::ArrayRef<int64_t> strides, int64_t offset = 0) const;
  /// NumPy broadcasting to `shape`, which must be compatible.
  HostTensor broadcast(llvm::ArrayRef<int64_t> shape) const;
  HostTensor transposed(llvm::ArrayRef<int64_t> permutation) const;
  /// With every dimension along which all values are equal cut to size 1.
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
