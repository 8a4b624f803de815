//===- KernelBuffer.cpp - a kernel's tensor in memory ---------------------===//

#include "KernelBuffer.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;
using namespace dtc;

static constexpr char guard = 0x55, poison = char(0xff);

KernelBuffer::KernelBuffer(Type tensor)
    : element(getElementTypeOrSelf(tensor)),
      shape(cast<ShapedType>(tensor).getShape()) {
  size_t size = ShapedType::getNumElements(shape) *
                llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  bytes.assign(size + 2 * margin, guard);
  std::memset(data(), poison, size);
}

KernelBuffer::KernelBuffer(Type tensor, const HostTensor &values)
    : KernelBuffer(tensor) {
  for (auto [i, value] : llvm::enumerate(values.data))
    writeElement(i, value);
}

bool KernelBuffer::areMarginsIntact() const {
  auto isGuard = [](char byte) { return byte == guard; };
  return llvm::all_of(ArrayRef(bytes).take_front(margin), isGuard) &&
         llvm::all_of(ArrayRef(bytes).take_back(margin), isGuard);
}

HostTensor KernelBuffer::read() const {
  HostTensor values(shape);
  for (auto [i, value] : llvm::enumerate(values.data))
    value = readElement(i);
  return values;
}

template <typename T> static double load(const char *bytes, int64_t i) {
  T value;
  std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
  return double(value);
}

template <typename T> static void store(char *bytes, int64_t i, double number) {
  auto value = static_cast<T>(number);
  std::memcpy(bytes + i * sizeof(T), &value, sizeof(T));
}

double KernelBuffer::readElement(int64_t i) const {
  const char *at = bytes.data() + margin;
  if (element.isF32())
    return load<float>(at, i);
  if (element.isF64())
    return load<double>(at, i);
  if (element.isInteger(64))
    return load<int64_t>(at, i);
  if (element.isInteger(32))
    return load<int32_t>(at, i);
  return load<char>(at, i);
}

void KernelBuffer::writeElement(int64_t i, double value) {
  char *at = bytes.data() + margin;
  if (element.isF32())
    store<float>(at, i, value);
  else if (element.isF64())
    store<double>(at, i, value);
  else if (element.isInteger(64))
    store<int64_t>(at, i, value);
  else if (element.isInteger(32))
    store<int32_t>(at, i, value);
  else
    store<char>(at, i, value);
}
