//===- Network.h - builds the graph of a model ------------------*- C++ -*-===//
//
// A graph with its parameters and their initial distributions. Names identify
// values. A node has the name of its module and its operator, as in exporters:
// "transformer.h.0.mlp/Tanh". Its value has the same name.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_MODEL_NETWORK_H
#define DTC_MODEL_NETWORK_H

#include "ModelBuilder.h"

#include <map>
#include <utility>
#include <variant>

namespace dtc::model {

/// The initial elements of a parameter: all equal, or drawn from a normal
/// distribution around 0.
struct Start {
  float value;
  double deviation;
};
inline constexpr Start zeros{0, 0}, ones{1, 0};
constexpr Start normal(double deviation) { return {0, deviation}; }

struct Parameter {
  std::string name;
  Ints shape;
  Start start;
  /// The number of its initializer in the graph.
  int initializer;
  /// Whether gradients change it. A running statistic is PyTorch's buffer.
  bool isTrained = true;

  int64_t elements() const;
};

using Attribute = std::variant<int64_t, Ints, float>;
using Attributes = std::vector<std::pair<std::string, Attribute>>;

class Network {
public:
  explicit Network(const std::string &name) : builder(/*opset=*/17, name) {}

  ModelBuilder builder;
  std::vector<Parameter> parameters;
  /// Floating-point operations of matrix products and convolutions, forward and
  /// backward, for one token, or for one sample if there are no tokens. A
  /// weight counts 6 for each element, at each position of a convolution's
  /// result. An attention counts 12 x context x width.
  double flops = 0;

  /// A parameter; its initializer has no data yet.
  std::string parameter(const std::string &name, const Ints &shape,
                        const Start &start);
  /// The same for a tensor that is not trained.
  std::string statistic(const std::string &name, const Ints &shape,
                        const Start &start);
  /// One node with one result, in the module `path`.
  std::string apply(const std::string &path, const std::string &op,
                    const Names &operands, const Attributes &attributes = {});
  /// Two equal parts of the last dimension, or three.
  Names split(const std::string &path, const std::string &value, int parts);

  /// Constants: a float and an integer of rank 0, integers of rank 1. Equal
  /// constants share one value.
  std::string scalar(float value);
  std::string index(int64_t value);
  std::string ints(const Ints &values);
  /// The constant true, of rank 0.
  std::string yes();

  /// x w + b with w of shape [in, out], or x wᵀ for `weight` [out, in]: the
  /// parameters PATH.weight and PATH.bias.
  std::string affine(const std::string &path, const std::string &x, int64_t in,
                     int64_t out, const Start &start);
  std::string linear(const std::string &path, const std::string &x, int64_t in,
                     int64_t out, const Start &start);
  /// x wᵀ with an existing parameter.
  std::string multiplyTransposed(const std::string &path, const std::string &x,
                                 const std::string &weight, int64_t in,
                                 int64_t out);
  /// GELU by its approximation with tanh, as in GPT-2.
  std::string gelu(const std::string &path, const std::string &x);

private:
  std::string uniqueName(const std::string &path, const std::string &op);
  std::string constantName();

  /// The number of uses of an operator in a module.
  std::map<std::string, int> counts;
  std::map<float, std::string> scalars;
  std::map<int64_t, std::string> indices;
  std::map<Ints, std::string> vectors;
  std::string truth;
};

} // namespace dtc::model

#endif // DTC_MODEL_NETWORK_H
