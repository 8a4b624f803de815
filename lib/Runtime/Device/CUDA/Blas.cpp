//===- Blas.cpp - matrix products by cuBLASLt -----------------------------===//
//
// cuBLASLt has columns first, and a matrix of rows is the transpose of one of
// columns: C = A B is computed as C^T = B^T A^T.
//
//===----------------------------------------------------------------------===//

#include "Blas.h"

#include "Core/Elements.h"
#include "Core/Error.h"
#include "Core/Fatal.h"
#include "CudaDevice.h"
#include "Device/Tuning.h"
#include "Library.h"
#include "Program/Context.h"
#include "System/Machine.h"
#include "dtc/Runtime/DeviceABI.h"
#include "dtc/Runtime/DeviceReserve.h"

#include <cstring>
#include <cublasLt.h>
#include <limits>
#include <optional>
#include <span>

using namespace dtc::rt;

#define DTC_BLAS_FUNCTIONS(X)                                                  \
  X(cublasLtCreate)                                                            \
  X(cublasLtDestroy)                                                           \
  X(cublasLtGetStatusName)                                                     \
  X(cublasLtGetVersion)                                                        \
  X(cublasLtMatmul)                                                            \
  X(cublasLtMatmulAlgoGetHeuristic)                                            \
  X(cublasLtMatmulDescCreate)                                                  \
  X(cublasLtMatmulDescDestroy)                                                 \
  X(cublasLtMatmulDescSetAttribute)                                            \
  X(cublasLtMatrixLayoutCreate)                                                \
  X(cublasLtMatrixLayoutDestroy)                                               \
  X(cublasLtMatrixLayoutSetAttribute)                                          \
  X(cublasLtMatmulPreferenceCreate)                                            \
  X(cublasLtMatmulPreferenceDestroy)                                           \
  X(cublasLtMatmulPreferenceSetAttribute)

struct Blas::Functions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a member of this name
#define DTC_MEMBER(name) decltype(&::name) name;
  DTC_BLAS_FUNCTIONS(DTC_MEMBER)
#undef DTC_MEMBER

  static const Functions &get();
};

struct Blas::Handle {
  cublasLtHandle_t handle;
  cublasStatus_t answer; ///< of the last search for algorithms
};

struct Blas::Algorithm {
  cublasLtMatmulAlgo_t algorithm;

  /// The library's number of the algorithm with its settings, which identify
  /// it.
  std::string name() const {
    std::string text;
    for (uint64_t word : algorithm.data)
      text +=
          format("%s%llx", text.empty() ? "" : ",", (unsigned long long)word);
    return text;
  }
};

/// The library's objects for one shape.
struct Blas::Product {
  cublasLtMatmulDesc_t description;
  cublasLtMatrixLayout_t a, b, c; ///< of B, A and C in our order
  Alignments alignments;
  Algorithm algorithm;
  bool hasRun = false;
  /// The library does not support the epilogue, so a kernel or another product
  /// computes it.
  bool isPlain = false;
};

enum class Blas::Status : int {};

/// Ends the job unless a call of the library went well.
#define DTC_BLAS(call)                                                         \
  do {                                                                         \
    if (cublasStatus_t status = blas.call; status != CUBLAS_STATUS_SUCCESS)    \
      fatal("%s failed: %s", #call, blas.cublasLtGetStatusName(status));       \
  } while (false)

const Blas::Functions &Blas::Functions::get() {
  static const Functions functions = [] {
    static const Library library(
        "cuBLASLt",
        {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"},
        "install the CUDA toolkit's libraries, or say where they are in "
        "LD_LIBRARY_PATH");
    Functions loaded;
    DTC_BLAS_FUNCTIONS(DTC_LOAD)
    return loaded;
  }();
  return functions;
}

Blas::Blas(CUstream stream)
    : blas(Functions::get()), stream(stream),
      handle(std::make_unique<Handle>()),
      workspace(std::make_unique<DeviceMemory>(dtc::productWorkspaceBytes)),
      ones(std::make_unique<DeviceMemory>(dtc::productOnes * 2)) {
  DTC_BLAS(cublasLtCreate(&handle->handle));
}

Blas::~Blas() {
  forgetProducts();
  blas.cublasLtDestroy(handle->handle);
}

void Blas::forgetProducts() {
  for (auto &[key, product] : products) {
    blas.cublasLtMatrixLayoutDestroy(product->a);
    blas.cublasLtMatrixLayoutDestroy(product->b);
    blas.cublasLtMatrixLayoutDestroy(product->c);
    blas.cublasLtMatmulDescDestroy(product->description);
  }
  products.clear();
}

void Blas::tuneBy(Tuning &other) {
  tuning = &other;
  forgetProducts();
}

std::string Blas::describeLibrary() {
  const Functions &functions = Functions::get();
  return format(
      "cuBLASLt %zu, %s", functions.cublasLtGetVersion(),
      fileOf(reinterpret_cast<const void *>(functions.cublasLtMatmul)).c_str());
}

std::string Blas::describe() const {
  return format("cuBLASLt %zu%s", blas.cublasLtGetVersion(),
                usesTf32 ? ", tf32" : "");
}

static cudaDataType_t typeOf(dtc_dtype dtype) {
  switch (dtype) {
  case DTC_F32:
    return CUDA_R_32F;
  case DTC_F64:
    return CUDA_R_64F;
  case DTC_BF16:
    return CUDA_R_16BF;
  case DTC_F16:
    return CUDA_R_16F;
  default:
    fatal("matmul of element type %d, expected floating point", dtype);
  }
}

static cublasComputeType_t computeTypeOf(dtc_dtype dtype, bool usesTf32) {
  if (dtype == DTC_F64)
    return CUBLAS_COMPUTE_64F;
  return dtype == DTC_F32 && usesTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                      : CUBLAS_COMPUTE_32F;
}

/// Bytes that an address is a multiple of, as far as algorithms care.
static uint32_t alignmentOf(const void *address) {
  if (!address)
    return 512;
  auto number = reinterpret_cast<uintptr_t>(address) | 256;
  return uint32_t(number & -number);
}

static bool sumsOperand(int32_t epilogue) {
  return epilogue == DTC_EPILOGUE_SUM_A || epilogue == DTC_EPILOGUE_SUM_B;
}

Blas::Product &Blas::find(const ProductShape &shape, const Operands &operands) {
  bool sums = sumsOperand(shape.epilogue);
  Alignments alignments = {alignmentOf(operands.a),
                           alignmentOf(operands.b),
                           alignmentOf(operands.c),
                           alignmentOf(operands.other),
                           alignmentOf(operands.bias),
                           alignmentOf(sums ? nullptr : operands.sum),
                           alignmentOf(sums ? operands.sum : nullptr)};
  std::pair key{shape, alignments};
  if (auto known = products.find(key); known != products.end())
    return *known->second;
  auto product = std::make_unique<Product>();
  cudaDataType_t type = typeOf(shape.dtype);
  cudaDataType_t scale = shape.dtype == DTC_F64 ? CUDA_R_64F : CUDA_R_32F;
  DTC_BLAS(cublasLtMatmulDescCreate(
      &product->description, computeTypeOf(shape.dtype, usesTf32), scale));
  set(*product, CUBLASLT_MATMUL_DESC_TRANSA,
      shape.transposeB ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(*product, CUBLASLT_MATMUL_DESC_TRANSB,
      shape.transposeA ? CUBLAS_OP_T : CUBLAS_OP_N);
  // The library reads the addresses' alignment from the description.
  setEpilogue(shape, *product, operands);

  // A matrix of rows x columns in our order.
  auto createLayout = [&](cublasLtMatrixLayout_t &layout, cudaDataType_t type,
                          int64_t rows, int64_t columns) {
    DTC_BLAS(cublasLtMatrixLayoutCreate(&layout, type, uint64_t(columns),
                                        uint64_t(rows), columns));
    auto batch = int32_t(shape.batch);
    int64_t stride = rows * columns;
    DTC_BLAS(cublasLtMatrixLayoutSetAttribute(
        layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch));
    DTC_BLAS(cublasLtMatrixLayoutSetAttribute(
        layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
        sizeof stride));
  };
  createLayout(product->a, type, shape.transposeB ? shape.n : shape.k,
               shape.transposeB ? shape.k : shape.n);
  createLayout(product->b, type, shape.transposeA ? shape.k : shape.m,
               shape.transposeA ? shape.m : shape.k);
  createLayout(product->c, shape.keepsSums ? CUDA_R_32F : type, shape.m,
               shape.n);

  product->alignments = alignments;
  if (shape.isApart || !findAlgorithm(shape, *product, operands))
    leaveOutEpilogue(shape, *product, operands);
  return *products.emplace(key, std::move(product)).first->second;
}

bool Blas::findAlgorithm(const ProductShape &shape, Product &product,
                         const Operands &operands) {
  std::vector<Algorithm> algorithms =
      listAlgorithms(product, product.alignments);
  if (algorithms.empty())
    return false;
  product.algorithm =
      algorithms[tuning ? choose(algorithms, shape, product, operands) : 0];
  return true;
}

/// The library has no algorithm for a product with its epilogue: from now on it
/// is the plain one, and something else follows. Ends the job if it has none
/// for that either.
void Blas::leaveOutEpilogue(const ProductShape &shape, Product &product,
                            const Operands &operands) {
  product.isPlain = shape.epilogue != noEpilogue;
  if (product.isPlain) {
    set(product, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT);
    if (findAlgorithm(shape, product, operands))
      return;
  }
  fatal("cuBLASLt has no algorithm (%s) for a product of %lld x %lld x %lld",
        blas.cublasLtGetStatusName(handle->answer), (long long)shape.m,
        (long long)shape.n, (long long)shape.k);
}

template <typename Value>
void Blas::set(const Product &product, int attribute, Value value) const {
  DTC_BLAS(cublasLtMatmulDescSetAttribute(
      product.description, cublasLtMatmulDescAttributes_t(attribute),
      static_cast<const void *>(&value), sizeof value));
}

/// Sets the epilogue of the product and its operands. The library's columns are
/// our rows: a bias for each of its rows is one for each of our columns, and
/// its operand A is our B. A matrix that is added is the C of its product.
void Blas::setEpilogue(const ProductShape &shape, const Product &product,
                       const Operands &operands) const {
  if (product.isPlain)
    return;
  auto setFunction = [&](cublasLtEpilogue_t epilogue) {
    set(product, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
  };
  auto setBias = [&](const void *bias) {
    set(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  };
  auto setMatrix = [&](const void *matrix) {
    set(product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, matrix);
    set(product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, shape.n);
  };
  switch (shape.epilogue) {
  case DTC_EPILOGUE_BIAS:
    setFunction(CUBLASLT_EPILOGUE_BIAS);
    return setBias(operands.other);
  case DTC_EPILOGUE_RELU:
    setFunction(CUBLASLT_EPILOGUE_RELU_BIAS);
    return setBias(operands.other);
  case DTC_EPILOGUE_GELU:
    setFunction(operands.sum ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS
                             : CUBLASLT_EPILOGUE_GELU_BIAS);
    if (operands.sum)
      setMatrix(operands.sum);
    return setBias(operands.other);
  case DTC_EPILOGUE_GELU_GRAD:
    setFunction(CUBLASLT_EPILOGUE_DGELU);
    return setMatrix(operands.other);
  case DTC_EPILOGUE_ADD:
    if (!operands.bias)
      return;
    setFunction(CUBLASLT_EPILOGUE_BIAS);
    return setBias(operands.bias);
  case DTC_EPILOGUE_SUM_A:
  case DTC_EPILOGUE_SUM_B:
    setFunction(shape.epilogue == DTC_EPILOGUE_SUM_A
                    ? CUBLASLT_EPILOGUE_BGRADB
                    : CUBLASLT_EPILOGUE_BGRADA);
    return setBias(operands.sum);
  default:
    return;
  }
}

/// The first algorithm is the fastest by the library's heuristics. Others are
/// there only for measurements.
std::vector<Blas::Algorithm>
Blas::listAlgorithms(const Product &product, const Alignments &alignments) {
  cublasLtMatmulPreference_t preference;
  DTC_BLAS(cublasLtMatmulPreferenceCreate(&preference));
  auto bytes = uint64_t(dtc::productWorkspaceBytes);
  DTC_BLAS(cublasLtMatmulPreferenceSetAttribute(
      preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
      sizeof bytes));
  // Parts of a product are added in f32.
  uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  DTC_BLAS(cublasLtMatmulPreferenceSetAttribute(
      preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes,
      sizeof schemes));
  // The library assumes 256 bytes by default, but views begin at any address.
  const std::pair<cublasLtMatmulPreferenceAttributes_t, uint32_t> aligned[] = {
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignments.b},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignments.a},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignments.ofResult()},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignments.ofResult()}};
  for (const auto &[attribute, alignment] : aligned)
    DTC_BLAS(cublasLtMatmulPreferenceSetAttribute(
        preference, attribute, &alignment, sizeof alignment));
  cublasLtMatmulHeuristicResult_t found[8];
  int count = 0;
  cublasStatus_t answer = blas.cublasLtMatmulAlgoGetHeuristic(
      handle->handle, product.description, product.a, product.b, product.c,
      product.c, preference, tuning ? int(std::size(found)) : 1, found, &count);
  handle->answer = answer;
  // So the library says that it has none.
  if (answer == CUBLAS_STATUS_NOT_SUPPORTED ||
      answer == CUBLAS_STATUS_INVALID_VALUE)
    count = 0;
  else if (answer != CUBLAS_STATUS_SUCCESS)
    fatal("cublasLtMatmulAlgoGetHeuristic failed: %s",
          blas.cublasLtGetStatusName(answer));
  DTC_BLAS(cublasLtMatmulPreferenceDestroy(preference));
  std::vector<Algorithm> algorithms;
  for (const auto &result : std::span(found).first(size_t(count)))
    if (result.state == CUBLAS_STATUS_SUCCESS)
      algorithms.push_back({result.algo});
  return algorithms;
}

const char *Blas::nameOfEpilogue(int32_t epilogue) {
  switch (epilogue) {
  case DTC_EPILOGUE_BIAS:
    return ", bias";
  case DTC_EPILOGUE_RELU:
    return ", relu";
  case DTC_EPILOGUE_GELU:
    return ", gelu";
  case DTC_EPILOGUE_GELU_GRAD:
    return ", gradient of gelu";
  case DTC_EPILOGUE_ADD:
    return ", matrix";
  case DTC_EPILOGUE_SUM_A:
    return ", sums of A";
  case DTC_EPILOGUE_SUM_B:
    return ", sums of B";
  default:
    return "";
  }
}

size_t Blas::choose(const std::vector<Algorithm> &algorithms,
                    const ProductShape &shape, const Product &product,
                    const Operands &operands) {
  const Alignments &alignments = product.alignments;
  std::string what = format(
      "%s %lld x %lld x %lld x %lld%s%s%s%s%s%s%s, aligned %u %u %u",
      nameOf(shape.dtype), (long long)shape.batch, (long long)shape.m,
      (long long)shape.n, (long long)shape.k,
      shape.transposeA ? ", A transposed" : "",
      shape.transposeB ? ", B transposed" : "",
      shape.accumulate ? ", added" : "", shape.keepsSums ? ", to f32" : "",
      product.isPlain ? "" : nameOfEpilogue(shape.epilogue),
      operands.bias && !product.isPlain ? ", bias" : "",
      shape.epilogue == DTC_EPILOGUE_GELU && operands.sum && !product.isPlain
          ? ", its argument"
          : "",
      alignments.a, alignments.b, alignments.ofResult());
  std::vector<std::string> names;
  names.reserve(algorithms.size());
  for (const Algorithm &algorithm : algorithms)
    names.push_back(algorithm.name());
  // Into memory of its own.
  int64_t bytes = sizeOf(shape.keepsSums ? DTC_F32 : shape.dtype);
  std::unique_ptr<DeviceMemory> result;
  CudaTimer timer(stream);
  return tuning->choose(what, names, [&](size_t i) {
    if (!result)
      result = DeviceMemory::makeInStep("--autotune", shape.batch * shape.m *
                                                          shape.n * bytes);
    auto *place = reinterpret_cast<void *>(result->address());
    bool isComputed = true;
    double seconds = timer.measure([&] {
      isComputed = compute(algorithms[i], shape, product,
                           {operands.a, operands.b, place, operands.other,
                            operands.bias, operands.sum}) == Status();
    });
    return isComputed ? seconds : std::numeric_limits<double>::infinity();
  });
}

void Blas::multiply(const ProductShape &shape, const Operands &operands) {
  if (shape.batch * shape.m * shape.n == 0)
    return;
  Product &product = find(shape, operands);
  Status status = compute(product.algorithm, shape, product, operands);
  // An algorithm of the heuristics may still be refused.
  if (status != Status() && !product.hasRun && !product.isPlain &&
      shape.epilogue != noEpilogue) {
    leaveOutEpilogue(shape, product, operands);
    status = compute(product.algorithm, shape, product, operands);
  }
  if (status != Status())
    fatal("cublasLtMatmul of %lld x %lld x %lld failed: %s", (long long)shape.m,
          (long long)shape.n, (long long)shape.k,
          blas.cublasLtGetStatusName(cublasStatus_t(status)));
  product.hasRun = true;
  if (!product.isPlain)
    return;
  if (sumsOperand(shape.epilogue))
    sumByOnes(shape, operands);
  else
    finishByKernel(shape, operands);
}

/// The kernel reads the plain product where it writes the result.
void Blas::finishByKernel(const ProductShape &shape, const Operands &operands) {
  if (!saidKernels && !shape.isApart) {
    saidKernels = true;
    fprintf(stderr,
            "%snote: cuBLASLt has no algorithm for a product of %lld x %lld x "
            "%lld with an epilogue (%s); kernels follow such products\n",
            linePrefix(), (long long)shape.m, (long long)shape.n,
            (long long)shape.k, nameOfEpilogue(shape.epilogue) + strlen(", "));
  }
  using Three = void (*)(void *, const void *, void *, dtc_context *);
  using Four =
      void (*)(void *, const void *, const void *, void *, dtc_context *);
  void *c = operands.c;
  const void *other = operands.other;
  if (operands.bias)
    reinterpret_cast<Four>(operands.kernel)(c, other, operands.bias, c,
                                            operands.context);
  else if (operands.sum)
    reinterpret_cast<Four>(operands.kernel)(c, other, c, operands.sum,
                                            operands.context);
  else
    reinterpret_cast<Three>(operands.kernel)(c, other, c, operands.context);
}

/// The sums over k of an operand are its product with ones, some rows at a
/// time.
void Blas::sumByOnes(const ProductShape &shape, const Operands &operands) {
  if (!hasOnes) {
    DTC_CUDA(cuMemsetD16Async(ones->address(),
                              shape.dtype == DTC_BF16 ? 0x3f80 : 0x3c00,
                              size_t(dtc::productOnes), stream));
    fprintf(stderr,
            "%snote: cuBLASLt has no algorithm that sums what a product reads; "
            "gradients of biases take products of their own\n",
            linePrefix());
  }
  hasOnes = true;
  bool isOfA = shape.epilogue == DTC_EPILOGUE_SUM_A;
  const auto *rows = static_cast<const char *>(isOfA ? operands.a : operands.b);
  int64_t n = isOfA ? shape.m : shape.n;
  for (int64_t first = 0; first < shape.k; first += dtc::productOnes) {
    ProductShape part = {shape.dtype,
                         /*transposeA=*/false,
                         /*transposeB=*/false,
                         /*accumulate=*/first > 0,
                         /*keepsSums=*/true,
                         noEpilogue,
                         1,
                         1,
                         n,
                         std::min(dtc::productOnes, shape.k - first)};
    multiply(part, {reinterpret_cast<void *>(ones->address()),
                    rows + first * n * 2, operands.sum});
  }
}

Blas::Status Blas::compute(const Algorithm &algorithm,
                           const ProductShape &shape, const Product &product,
                           const Operands &operands) {
  setEpilogue(shape, product, operands);
  bool addsMatrix = shape.epilogue == DTC_EPILOGUE_ADD && !product.isPlain;
  float one = 1, rest = shape.accumulate || addsMatrix ? 1 : 0;
  double one64 = 1, rest64 = rest;
  bool isDouble = shape.dtype == DTC_F64;
  return Status(blas.cublasLtMatmul(
      handle->handle, product.description,
      isDouble ? static_cast<void *>(&one64) : &one, operands.b, product.a,
      operands.a, product.b, isDouble ? static_cast<void *>(&rest64) : &rest,
      addsMatrix ? operands.other : operands.c, product.c, operands.c,
      product.c, &algorithm.algorithm,
      reinterpret_cast<void *>(workspace->address()), size_t(workspace->size()),
      reinterpret_cast<cudaStream_t>(stream)));
}
