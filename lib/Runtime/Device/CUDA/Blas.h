//===- Blas.h - matrix products by cuBLASLt ---------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CUDA_BLAS_H
#define DTC_LIB_RUNTIME_DEVICE_CUDA_BLAS_H

#include "Driver.h"
#include "dtc/Runtime/DeviceABI.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dtc::rt {

class DeviceMemory;
class Tuning;

/// A product as dtcrt_matmul or dtcrt_matmul_epilogue has it.
struct ProductShape {
  dtc_dtype dtype;
  bool transposeA, transposeB, accumulate, keepsSums;
  int32_t epilogue; ///< a dtc_epilogue, or Blas::noEpilogue
  int64_t batch, m, n, k;
  /// The plain product, whatever the library has, and then what follows.
  bool isApart = false;

  auto operator<=>(const ProductShape &) const = default;
};

/// Products on one stream. The library's objects for a shape are created at its
/// first use, and kept.
class Blas {
public:
  /// Throws an Error if there is no library.
  explicit Blas(CUstream stream);
  ~Blas();

  static constexpr int32_t noEpilogue = -1;

  /// All but the first three are those of dtcrt_matmul_epilogue.
  struct Operands {
    const void *a, *b;
    void *c;
    const void *other = nullptr, *bias = nullptr;
    void *sum = nullptr;
    dtc_epilogue_kernel kernel = nullptr;
    dtc_context *context = nullptr;
  };
  void multiply(const ProductShape &shape, const Operands &operands);

  /// From now on, `other` chooses the algorithms.
  void tuneBy(Tuning &other);
  /// "cuBLASLt 130002".
  std::string describe() const;
  /// Its version, and the file that it is in. Throws an Error if there is none.
  static std::string describeLibrary();
  /// ", gelu"; empty if there is none.
  static const char *nameOfEpilogue(int32_t epilogue);

  /// f32 products may round their operands to tf32.
  bool usesTf32 = false;

private:
  struct Functions;
  struct Product;
  /// Alignments of the operands' addresses, in bytes; for null, one that no
  /// address has.
  struct Alignments {
    uint32_t a, b, c, other, bias, sum;
    uint32_t sums; ///< of an operand's rows
    /// The least alignment of the operands of the epilogue.
    uint32_t ofResult() const { return std::min({c, other, bias, sum}); }
    auto operator<=>(const Alignments &) const = default;
  };
  struct Algorithm;
  enum class Status : int; ///< a cublasStatus_t
  Product &find(const ProductShape &shape, const Operands &operands);
  std::vector<Algorithm> listAlgorithms(const Product &product,
                                        const Alignments &alignments);
  size_t choose(const std::vector<Algorithm> &algorithms,
                const ProductShape &shape, const Product &product,
                const Operands &operands);
  bool findAlgorithm(const ProductShape &shape, Product &product,
                     const Operands &operands);
  void leaveOutEpilogue(const ProductShape &shape, Product &product,
                        const Operands &operands);
  template <typename Value>
  void set(const Product &product, int attribute, Value value) const;
  void setEpilogue(const ProductShape &shape, const Product &product,
                   const Operands &operands) const;
  Status compute(const Algorithm &algorithm, const ProductShape &shape,
                 const Product &product, const Operands &operands);
  void finishByKernel(const ProductShape &shape, const Operands &operands);
  void sumByOnes(const ProductShape &shape, const Operands &operands);
  void forgetProducts();

  const Functions &blas;
  CUstream stream;
  struct Handle;
  std::unique_ptr<Handle> handle;
  std::unique_ptr<DeviceMemory> workspace;
  std::unique_ptr<DeviceMemory> ones; ///< of 16 bits
  bool hasOnes = false;
  bool saidKernels = false; ///< that the library lacks an epilogue
  std::map<std::pair<ProductShape, Alignments>, std::unique_ptr<Product>>
      products;
  Tuning *tuning = nullptr;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CUDA_BLAS_H
