//===- Tensors.h - named tensors of a safetensors file ----------*- C++ -*-===//
//
// Reads the gradients and weights that are compared, as doubles.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TEST_INTEGRATION_COMPARE_TENSORS_H
#define DTC_TEST_INTEGRATION_COMPARE_TENSORS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dtc::compare {

struct Tensor {
  std::vector<int64_t> shape;
  std::vector<double> values;
};

using Tensors = std::map<std::string, Tensor>;

/// The F32 and F64 tensors of a safetensors file whose names start with
/// `prefix`, without the prefix. Throws std::runtime_error.
Tensors readTensors(const std::string &path, const std::string &prefix = "");

/// The Euclidean norm.
double norm(const Tensor &tensor);

/// The Euclidean norm over all tensors together.
double norm(const Tensors &tensors);

/// The Euclidean norm of a - b, which have the same shape. Equal infinities
/// do not differ.
double distance(const Tensor &a, const Tensor &b);

} // namespace dtc::compare

#endif // DTC_TEST_INTEGRATION_COMPARE_TENSORS_H
