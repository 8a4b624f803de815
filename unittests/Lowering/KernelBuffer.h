//===- KernelBuffer.h - a kernel's tensor in memory -------------*- C++ -*-===//

#ifndef DTC_UNITTESTS_LOWERING_KERNELBUFFER_H
#define DTC_UNITTESTS_LOWERING_KERNELBUFFER_H

#include "Interpreter.h"

namespace dtc {

/// A buffer between two margins that kernels must not write.
class KernelBuffer {
public:
  /// The alignment of addresses, which is that of new memory.
  static constexpr int64_t alignment = 16;

  /// The memory is poisoned, so that kernels cannot rely on its contents.
  explicit KernelBuffer(mlir::Type tensor);
  KernelBuffer(mlir::Type tensor, const HostTensor &values);

  void *data() { return bytes.data() + margin; }
  HostTensor read() const;
  bool areMarginsIntact() const;

private:
  double readElement(int64_t i) const;
  void writeElement(int64_t i, double value);

  static constexpr size_t margin = 64;
  mlir::Type element;
  llvm::SmallVector<int64_t> shape;
  std::vector<char> bytes;
};

} // namespace dtc

#endif // DTC_UNITTESTS_LOWERING_KERNELBUFFER_H
