//===- Blas.h - matrix products by cuBLASLt ---------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CUDA_BLAS_H
#define DTC_LIB_RUNTIME_DEVICE_CUDA_BLAS_H

#include "Driver.h"
#include "dtc/Runtime/ABI.h"

#include <map>
#include <memory>

namespace dtc::rt {

class DeviceMemory;

/// A product as dtcrt_matmul has it.
struct ProductShape {
  dtc_dtype dtype;
  bool transposeA, transposeB, accumulate, keepsSums;
  int64_t batch, m, n, k;

  auto operator<=>(const ProductShape &) const = default;
};

/// Products on one stream. What the library needs to know of a shape is made
/// when it is first met, and kept.
class Blas {
public:
  /// Throws an Error if there is no library.
  explicit Blas(CUstream stream);
  ~Blas();

  void multiply(const ProductShape &shape, const void *a, const void *b,
                void *c);

  /// f32 products may round their operands to tf32.
  bool usesTf32 = false;

private:
  struct Functions;
  struct Product;
  /// Of the operands' addresses, in bytes.
  struct Alignments {
    uint32_t a, b, c;
    auto operator<=>(const Alignments &) const = default;
  };
  Product &find(const ProductShape &shape, const Alignments &alignments);

  const Functions &blas;
  CUstream stream;
  struct Handle;
  std::unique_ptr<Handle> handle;
  std::unique_ptr<DeviceMemory> workspace;
  std::map<std::pair<ProductShape, Alignments>, std::unique_ptr<Product>>
      products;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CUDA_BLAS_H
