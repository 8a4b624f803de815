//===- CublasLt.cpp - a stand-in of cuBLASLt ------------------------------===//
//
// Computes products from the arguments of the calls: in f64 if they are small,
// else by a library of the host, in f32.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Values.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <cublasLt.h>
#include <dnnl.h>
#include <thread>

using namespace dtc::standin;

namespace {

struct Layout {
  cudaDataType_t type;
  uint64_t rows, columns;
  int64_t leading;
  int32_t batch = 1;
  int64_t stride = 0;

  uint64_t bytes() const {
    uint64_t elements = uint64_t(stride) * uint64_t(batch - 1) +
                        uint64_t(leading) * (columns - 1) + rows;
    return elements * sizeOf(type);
  }
};

struct Description {
  cublasComputeType_t compute;
  cublasOperation_t transposeA = CUBLAS_OP_N, transposeB = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void *bias = nullptr;   ///< or where sums of an operand go
  void *matrix = nullptr; ///< "aux"
  int64_t matrixLeading = 0;

  bool has(cublasLtEpilogue_t other) const {
    return (epilogue & other) == other;
  }
  /// Whether the matrix is an argument, else a result.
  bool isGradient() const { return has(CUBLASLT_EPILOGUE_DGELU); }
  bool hasMatrix() const { return (epilogue & 128) != 0; }
  bool sumsA() const { return has(CUBLASLT_EPILOGUE_BGRADA); }
  bool sumsB() const { return has(CUBLASLT_EPILOGUE_BGRADB); }

  /// Whether the variable has the number of this epilogue, as cublasLt.h has
  /// it.
  bool isRefusedBy(const char *variable) const {
    const char *text = getenv(variable);
    return text && strtol(text, nullptr, 10) == long(epilogue);
  }
};

/// An algorithm's required alignment of its operands, in bytes. The second of
/// several algorithms is the fastest.
struct Algorithm {
  uint32_t a = 256, b = 256, d = 256;
  uint32_t microseconds = 0; ///< that it takes besides
  uint32_t workspace = 0;    ///< bytes: of a preference, the most

  static void expect(const void *address, uint32_t alignment) {
    if (reinterpret_cast<uintptr_t>(address) % alignment)
      fault("cublasLtMatmul has an operand at %p, and an algorithm for "
            "multiples of %u bytes",
            address, alignment);
  }
};

/// Columns first, as the library has it: d = scale op(a) op(b) + rest c.
struct Product {
  Description description;
  Layout a, b, c;
  double scale, rest;
  const void *aData, *bData, *cData;
  void *dData;

  void run() const;
  void finish(std::vector<double> &z) const;
  void sum(const std::vector<double> &x, uint64_t sums, uint64_t parts,
           bool areColumns) const;
};

} // namespace

/// GELU in the approximation by tanh, which the library's manual defines.
static double gelu(double x) {
  return 0.5 * x *
         (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
static double geluGrad(double x) {
  double h = 1e-5; // values are of 16 bits
  return (gelu(x + h) - gelu(x - h)) / (2 * h);
}

/// The epilogue: a bias for each row, a function, or its gradient.
void Product::finish(std::vector<double> &z) const {
  uint64_t rows = c.rows;
  auto *matrix = static_cast<char *>(description.matrix);
  std::vector<double> x = z;
  if (description.isGradient()) {
    x = loadMatrix(c.type, matrix, rows, c.columns, description.matrixLeading);
    for (size_t i = 0; i < z.size(); ++i)
      z[i] *= geluGrad(x[i]);
    return;
  }
  if (description.has(CUBLASLT_EPILOGUE_BIAS)) {
    std::vector<double> bias = loadMatrix(
        c.type, static_cast<char *>(description.bias), rows, 1, int64_t(rows));
    for (size_t i = 0; i < x.size(); ++i)
      z[i] = x[i] += bias[i % rows];
  }
  if (description.hasMatrix())
    storeMatrix(c.type, matrix, rows, c.columns, description.matrixLeading, x);
  for (double &value : z) {
    if (description.has(CUBLASLT_EPILOGUE_GELU))
      value = gelu(value);
    if (description.has(CUBLASLT_EPILOGUE_RELU))
      value = std::max(value, 0.0);
  }
}

/// The gradient of a bias: sums of the columns, or the rows, of an operand.
void Product::sum(const std::vector<double> &x, uint64_t sums, uint64_t parts,
                  bool areColumns) const {
  std::vector<double> total(sums, 0.0);
  for (uint64_t i = 0; i < sums; ++i)
    for (uint64_t part = 0; part < parts; ++part)
      total[i] += x[areColumns ? i * parts + part : part * sums + i];
  storeMatrix(c.type, static_cast<char *>(description.bias), sums, 1,
              int64_t(sums), total);
}

void Product::run() const {
  uint64_t m = c.rows, n = c.columns;
  bool ta = description.transposeA != CUBLAS_OP_N;
  bool tb = description.transposeB != CUBLAS_OP_N;
  uint64_t k = ta ? a.rows : a.columns;
  bool isDouble = a.type == CUDA_R_64F || m * n * k < 32 * 32 * 32;
  for (int32_t i = 0; i < c.batch; ++i) {
    auto load = [&](const Layout &layout, const void *data) {
      return loadMatrix(layout.type,
                        static_cast<const char *>(data) +
                            i * layout.stride * int64_t(sizeOf(layout.type)),
                        layout.rows, layout.columns, layout.leading);
    };
    std::vector<double> x = load(a, aData), y = load(b, bData);
    std::vector<double> z(m * n, 0.0);
    if (rest != 0)
      z = load(c, cData);
    for (double &value : z)
      value *= rest;
    if (isDouble) {
      for (uint64_t column = 0; column < n; ++column)
        for (uint64_t inner = 0; inner < k; ++inner) {
          double factor =
              scale * (tb ? y[inner * n + column] : y[column * k + inner]);
          for (uint64_t row = 0; row < m; ++row)
            z[column * m + row] +=
                factor * (ta ? x[row * k + inner] : x[inner * m + row]);
        }
    } else {
      std::vector<float> xf(x.begin(), x.end()), yf(y.begin(), y.end());
      std::vector<float> zf(m * n);
      // oneDNN has rows first: C^T = op(B)^T op(A)^T.
      dnnl_sgemm(tb ? 'T' : 'N', ta ? 'T' : 'N', dnnl_dim_t(n), dnnl_dim_t(m),
                 dnnl_dim_t(k), float(scale), yf.data(), dnnl_dim_t(tb ? n : k),
                 xf.data(), dnnl_dim_t(ta ? k : m), 0, zf.data(),
                 dnnl_dim_t(m));
      for (uint64_t j = 0; j < m * n; ++j)
        z[j] += zf[j];
    }
    if (description.sumsA())
      sum(x, m, k, ta);
    if (description.sumsB())
      sum(y, n, k, !tb);
    finish(z);
    storeMatrix(c.type,
                static_cast<char *>(dData) +
                    i * c.stride * int64_t(sizeOf(c.type)),
                m, n, c.leading, z);
  }
}

/// Bytes that each algorithm needs: DTC_STANDIN_BLAS_WORKSPACE, or none.
static uint32_t neededWorkspace() {
  const char *text = getenv("DTC_STANDIN_BLAS_WORKSPACE");
  return text ? uint32_t(strtoul(text, nullptr, 10)) : 0;
}

static Layout &layoutOf(cublasLtMatrixLayout_t layout) {
  return *reinterpret_cast<Layout *>(layout);
}
static Description &descriptionOf(cublasLtMatmulDesc_t description) {
  return *reinterpret_cast<Description *>(description);
}
static Algorithm &preferenceOf(cublasLtMatmulPreference_t preference) {
  return *reinterpret_cast<Algorithm *>(preference);
}

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  *handle = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) {
  return CUBLAS_STATUS_SUCCESS;
}
const char *cublasLtGetStatusName(cublasStatus_t) { return "stand-in"; }
size_t cublasLtGetVersion() { return 0; }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *description,
                                        cublasComputeType_t compute,
                                        cudaDataType_t) {
  *description =
      reinterpret_cast<cublasLtMatmulDesc_t>(new Description{compute});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete &descriptionOf(description);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                               cublasLtMatmulDescAttributes_t attribute,
                               const void *value, size_t bytes) {
  Description &d = descriptionOf(description);
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSA)
    memcpy(&d.transposeA, value, bytes);
  else if (attribute == CUBLASLT_MATMUL_DESC_TRANSB)
    memcpy(&d.transposeB, value, bytes);
  else if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE)
    memcpy(&d.epilogue, value, bytes);
  else if (attribute == CUBLASLT_MATMUL_DESC_BIAS_POINTER)
    memcpy(static_cast<void *>(&d.bias), value, bytes);
  else if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER)
    memcpy(static_cast<void *>(&d.matrix), value, bytes);
  else if (attribute == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD)
    memcpy(&d.matrixLeading, value, bytes);
  else
    fault("cublasLtMatmulDescSetAttribute of attribute %d", attribute);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout,
                                          cudaDataType_t type, uint64_t rows,
                                          uint64_t columns, int64_t leading) {
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(
      new Layout{type, rows, columns, leading});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &layoutOf(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                 cublasLtMatrixLayoutAttribute_t attribute,
                                 const void *value, size_t bytes) {
  Layout &l = layoutOf(layout);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)
    memcpy(&l.batch, value, bytes);
  else if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)
    memcpy(&l.stride, value, bytes);
  else
    fault("cublasLtMatrixLayoutSetAttribute of attribute %d", attribute);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(new Algorithm);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete &preferenceOf(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(
    cublasLtMatmulPreference_t preference,
    cublasLtMatmulPreferenceAttributes_t attribute, const void *value,
    size_t bytes) {
  Algorithm &preferred = preferenceOf(preference);
  if (attribute == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES)
    memcpy(&preferred.a, value, bytes);
  else if (attribute == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES)
    memcpy(&preferred.b, value, bytes);
  else if (attribute == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES)
    memcpy(&preferred.d, value, bytes);
  else if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
    preferred.workspace = uint32_t(*static_cast<const uint64_t *>(value));
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t description, cublasLtMatrixLayout_t,
    cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
    cublasLtMatmulPreference_t preference, int wanted,
    cublasLtMatmulHeuristicResult_t *results, int *count) {
  const Description &wish = descriptionOf(description);
  *count = 0;
  if ((wish.sumsA() || wish.sumsB()) && getenv("DTC_STANDIN_NO_SUMS"))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (wish.isRefusedBy("DTC_STANDIN_NO_EPILOGUE") ||
      preferenceOf(preference).workspace < neededWorkspace())
    return CUBLAS_STATUS_NOT_SUPPORTED;
  *count = std::min(wanted, 3);
  for (int i = 0; i < *count; ++i) {
    results[i] = {};
    Algorithm algorithm = preferenceOf(preference);
    if (*count > 1)
      algorithm.microseconds = std::array{600, 0, 300}[size_t(i)];
    memcpy(&results[i].algo, &algorithm, sizeof algorithm);
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description,
               const void *scale, const void *a, cublasLtMatrixLayout_t aLayout,
               const void *b, cublasLtMatrixLayout_t bLayout, const void *rest,
               const void *c, cublasLtMatrixLayout_t cLayout, void *d,
               cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *algorithm,
               void *workspace, size_t workspaceBytes, cudaStream_t stream) {
  Product product{descriptionOf(description),
                  layoutOf(aLayout),
                  layoutOf(bLayout),
                  layoutOf(cLayout),
                  0,
                  0,
                  a,
                  b,
                  c,
                  d};
  bool isDouble = product.description.compute == CUBLAS_COMPUTE_64F;
  auto number = [&](const void *value) {
    return isDouble ? *static_cast<const double *>(value)
                    : double(*static_cast<const float *>(value));
  };
  product.scale = number(scale);
  product.rest = number(rest);
  // Heuristics do not know all that the library refuses.
  if (product.description.isRefusedBy("DTC_STANDIN_NO_EPILOGUE_CALL"))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (workspaceBytes < neededWorkspace())
    return CUBLAS_STATUS_INVALID_VALUE;
  Algorithm chosen;
  memcpy(&chosen, algorithm, sizeof chosen);
  Algorithm::expect(a, chosen.a);
  Algorithm::expect(b, chosen.b);
  Algorithm::expect(d, chosen.d);
  Algorithm::expect(c, chosen.d);
  auto distance = static_cast<const char *>(c) - static_cast<const char *>(d);
  if (c != d && uint64_t(std::abs(distance)) < layoutOf(cLayout).bytes())
    fault("cublasLtMatmul adds %p and writes %p, which overlap", c, d);
  bool ta = product.description.transposeA != CUBLAS_OP_N;
  bool tb = product.description.transposeB != CUBLAS_OP_N;
  const Layout &x = product.a, &y = product.b, &z = product.c;
  if ((ta ? x.columns : x.rows) != z.rows ||
      (tb ? y.rows : y.columns) != z.columns ||
      (ta ? x.rows : x.columns) != (tb ? y.columns : y.rows) ||
      x.batch != z.batch || y.batch != z.batch)
    return CUBLAS_STATUS_INVALID_VALUE;
  std::vector<Access> accesses = {{a, x.bytes(), false}, {b, y.bytes(), false}};
  if (product.rest != 0)
    accesses.push_back({c, z.bytes(), false});
  accesses.push_back({d, z.bytes(), true});
  const Description &follows = product.description;
  if (follows.has(CUBLASLT_EPILOGUE_BIAS)) {
    Algorithm::expect(follows.bias, chosen.d);
    accesses.push_back({follows.bias, z.rows * sizeOf(z.type), false});
  }
  if (follows.sumsA() || follows.sumsB())
    accesses.push_back({follows.bias,
                        (follows.sumsA() ? z.rows : z.columns) * sizeOf(z.type),
                        true});
  if (follows.hasMatrix()) {
    if (follows.matrixLeading % 8 || z.batch != 1)
      return CUBLAS_STATUS_INVALID_VALUE;
    Algorithm::expect(follows.matrix, chosen.d);
    accesses.push_back(
        {follows.matrix,
         uint64_t(follows.matrixLeading) * z.columns * sizeOf(z.type),
         !follows.isGradient()});
  }
  if (workspaceBytes)
    accesses.push_back({workspace, workspaceBytes, true});
  Machine::get().add(int(reinterpret_cast<intptr_t>(stream)), "matmul",
                     accesses, [product, chosen] {
                       product.run();
                       std::this_thread::sleep_for(
                           std::chrono::microseconds(chosen.microseconds));
                       return true;
                     });
  return CUBLAS_STATUS_SUCCESS;
}

} // extern "C"
