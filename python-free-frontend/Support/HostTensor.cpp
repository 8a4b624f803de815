//===- HostTensor.cpp - a constant tensor known at import -----------------===//
//
// Storage, conversion and strided views.
//
//===----------------------------------------------------------------------===//

#include "Support/HostTensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/ErrorHandling.h"

#include <cmath>
#include <limits>

using namespace llvm;

namespace dtc::frontend {

static const ElementType &getEntry(DType dtype) {
  return getElementType(static_cast<dtc_dtype>(dtype));
}

bool isFloat(DType dtype) { return getEntry(dtype).kind == ElementKind::Float; }

int64_t byteSize(DType dtype) { return getEntry(dtype).bytes; }

StringRef toString(DType dtype) { return getEntry(dtype).name; }

StringRef getSafetensorsName(DType dtype) {
  return getEntry(dtype).safetensors;
}

std::string toString(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [i, dim] : enumerate(shape))
    text += (i ? ", " : "") + itostr(dim);
  return text + "]";
}

int64_t numElements(ArrayRef<int64_t> shape) {
  if (is_contained(shape, 0))
    return 0;
  int64_t count = 1;
  for (int64_t dim : shape) {
    std::optional<int64_t> product = checkedMul(count, dim);
    if (!product)
      return std::numeric_limits<int64_t>::max();
    count = *product;
  }
  return count;
}

Shape rowMajorStrides(ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

HostTensor::HostTensor(DType dtype, ArrayRef<int64_t> shape)
    : elementType(dtype), dims(shape), count(numElements(shape)) {
  if (isFloat())
    floats.resize(count);
  else
    ints.resize(count);
}

HostTensor HostTensor::scalar(DType dtype, double value) {
  HostTensor tensor(dtype, {});
  tensor.setFloat(0, value);
  return tensor;
}

HostTensor HostTensor::fromInts(ArrayRef<int64_t> values) {
  HostTensor tensor(DType::I64, {int64_t(values.size())});
  tensor.ints.assign(values.begin(), values.end());
  return tensor;
}

/// Converts to the nearest int64_t, since C++ does not define the conversion of
/// larger floats. NaN becomes 0.
static int64_t saturate(double value) {
  if (std::isnan(value))
    return 0;
  if (value >= 0x1p63)
    return std::numeric_limits<int64_t>::max();
  if (value < -0x1p63)
    return std::numeric_limits<int64_t>::min();
  return int64_t(value);
}

int64_t HostTensor::getInt(int64_t i) const {
  if (!isFloat())
    return ints[i];
  return saturate(floats[i]);
}

void HostTensor::setFloat(int64_t i, double value) {
  if (elementType == DType::F64)
    floats[i] = value;
  else if (elementType == DType::F32)
    floats[i] = float(value);
  else if (elementType == DType::Bool)
    ints[i] = value != 0;
  else
    setInt(i, saturate(value));
}

void HostTensor::setInt(int64_t i, int64_t value) {
  if (isFloat())
    setFloat(i, double(value));
  else if (elementType == DType::Bool)
    ints[i] = value != 0;
  else if (elementType == DType::I32)
    ints[i] = int32_t(value);
  else
    ints[i] = value;
}

void HostTensor::copy(int64_t to, const HostTensor &source, int64_t from) {
  if (isFloat())
    setFloat(to, source.getFloat(from));
  else
    setInt(to, source.getInt(from));
}

bool HostTensor::equal(int64_t i, int64_t j) const {
  return isFloat() ? floats[i] == floats[j] : ints[i] == ints[j];
}

std::vector<int64_t> HostTensor::toInts() const {
  std::vector<int64_t> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = getInt(i);
  return values;
}

HostTensor HostTensor::reshaped(ArrayRef<int64_t> shape) const {
  HostTensor result = *this;
  result.dims = Shape(shape);
  return result;
}

HostTensor HostTensor::cast(DType dtype) const {
  HostTensor result(dtype, dims);
  for (int64_t i = 0; i < count; ++i) {
    // Bool tests the value before any truncation to an integer.
    if (isFloat() && (frontend::isFloat(dtype) || dtype == DType::Bool))
      result.setFloat(i, floats[i]);
    else
      result.setInt(i, getInt(i));
  }
  return result;
}

HostTensor HostTensor::view(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                            int64_t offset) const {
  HostTensor result(elementType, shape);
  SmallVector<int64_t> index(shape.size(), 0);
  int64_t from = offset;
  for (int64_t i = 0; i < result.count; ++i) {
    result.copy(i, *this, from);
    for (size_t d = shape.size(); d-- > 0;) {
      from += strides[d];
      if (++index[d] < shape[d])
        break;
      from -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
  return result;
}

HostTensor HostTensor::broadcast(ArrayRef<int64_t> shape) const {
  if (shape == this->shape())
    return *this;
  Shape strides(shape.size(), 0), own = rowMajorStrides(dims);
  size_t lead = shape.size() - dims.size();
  for (size_t d = 0; d < dims.size(); ++d)
    strides[lead + d] = dims[d] == 1 ? 0 : own[d];
  return view(shape, strides);
}

HostTensor HostTensor::transposed(ArrayRef<int64_t> permutation) const {
  Shape shape, strides, own = rowMajorStrides(dims);
  for (int64_t d : permutation) {
    shape.push_back(dims[d]);
    strides.push_back(own[d]);
  }
  return view(shape, strides);
}

HostTensor HostTensor::compacted() const {
  HostTensor result = *this;
  for (int64_t d = 0; d < rank(); ++d) {
    Shape strides = rowMajorStrides(result.dims);
    int64_t size = result.dims[d];
    bool constant = size > 1;
    for (int64_t i = 0; constant && i < result.count; ++i)
      constant = result.equal(i, i - (i / strides[d] % size) * strides[d]);
    if (!constant)
      continue;
    Shape shape = result.dims;
    shape[d] = 1;
    result = result.view(shape, strides);
  }
  return result;
}

} // namespace dtc::frontend
