//===- Tensors.cpp - named tensors of a safetensors file ------------------===//

#include "Tensors.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

using namespace dtc::compare;
using nlohmann::json;

template <typename T>
static std::vector<double> widen(const char *bytes, size_t size) {
  std::vector<T> values(size / sizeof(T));
  std::memcpy(values.data(), bytes, values.size() * sizeof(T));
  return {values.begin(), values.end()};
}

static Tensor readTensor(const json &entry, const char *data, size_t size) {
  auto begin = entry.at("data_offsets").at(0).get<uint64_t>();
  auto end = entry.at("data_offsets").at(1).get<uint64_t>();
  if (begin > end || end > size)
    throw std::runtime_error("data offsets outside the file");
  Tensor tensor;
  tensor.shape = entry.at("shape").get<std::vector<int64_t>>();
  auto dtype = entry.at("dtype").get<std::string>();
  if (dtype == "F64")
    tensor.values = widen<double>(data + begin, end - begin);
  else if (dtype == "F32")
    tensor.values = widen<float>(data + begin, end - begin);
  else
    throw std::runtime_error("found dtype " + dtype + ", expected F32 or F64");
  size_t elements = 1;
  for (int64_t extent : tensor.shape)
    elements *= extent;
  if (tensor.values.size() != elements)
    throw std::runtime_error("bytes and shape of a tensor disagree");
  return tensor;
}

static Tensors parse(const std::vector<char> &file, const std::string &prefix) {
  uint64_t headerSize = 0;
  if (file.size() < sizeof(headerSize))
    throw std::runtime_error("no header");
  std::memcpy(&headerSize, file.data(), sizeof(headerSize));
  if (headerSize > file.size() - sizeof(headerSize))
    throw std::runtime_error("header longer than the file");
  const char *header = file.data() + sizeof(headerSize);
  const char *data = header + headerSize;
  json entries = json::parse(header, data);
  Tensors tensors;
  for (const auto &[name, entry] : entries.items()) {
    if (name == "__metadata__" || name.compare(0, prefix.size(), prefix) != 0)
      continue;
    tensors[name.substr(prefix.size())] =
        readTensor(entry, data, file.data() + file.size() - data);
  }
  if (tensors.empty())
    throw std::runtime_error("no tensor whose name starts with '" + prefix +
                             "'");
  return tensors;
}

Tensors dtc::compare::readTensors(const std::string &path,
                                  const std::string &prefix) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    throw std::runtime_error("cannot open '" + path + "'");
  std::vector<char> file{std::istreambuf_iterator<char>(stream), {}};
  try {
    return parse(file, prefix);
  } catch (const std::exception &error) {
    throw std::runtime_error("'" + path +
                             "' is no safetensors file: " + error.what());
  }
}

double dtc::compare::norm(const Tensor &tensor) {
  double sum = 0;
  for (double value : tensor.values)
    sum += value * value;
  return std::sqrt(sum);
}

double dtc::compare::norm(const Tensors &tensors) {
  double sum = 0;
  for (const auto &[name, tensor] : tensors)
    sum += norm(tensor) * norm(tensor);
  return std::sqrt(sum);
}

double dtc::compare::distance(const Tensor &a, const Tensor &b) {
  double sum = 0;
  for (size_t i = 0; i < a.values.size(); ++i)
    if (a.values[i] != b.values[i])
      sum += (a.values[i] - b.values[i]) * (a.values[i] - b.values[i]);
  return std::sqrt(sum);
}
