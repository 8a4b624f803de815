//===- Mlp.cpp - fully connected layers -----------------------------------===//
//
// A matrix has shape [out, in] as in torch's Linear, and starts by Kaiming's
// rule.
//
//===----------------------------------------------------------------------===//

#include "Architectures.h"

#include <cmath>

namespace dtc::model {

Network buildMlp(const MlpSizes &sizes, Activation activation) {
  Network network("mlp");
  network.builder.input("input", {"batch", sizes.inputs});
  std::string x = "input";
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    std::string path = "layers." + std::to_string(layer);
    bool isLast = layer + 1 == sizes.layers;
    int64_t in = layer == 0 ? sizes.inputs : sizes.width;
    int64_t out = isLast ? sizes.classes : sizes.width;
    std::string weight = network.parameter(path + ".weight", {out, in},
                                           normal(std::sqrt(2.0 / in)));
    std::string bias = network.parameter(path + ".bias", {out}, zeros);
    network.flops += 6.0 * in * out;
    x = network.apply(path, "Gemm", {x, weight, bias}, {{"transB", 1}});
    if (isLast)
      break;
    if (activation == Activation::Gelu)
      x = network.gelu(path, x);
    else
      x = network.apply(path, activation == Activation::Relu ? "Relu" : "Tanh",
                        {x});
  }
  network.builder.node("Identity", "logits", {x}, {"logits"});
  network.builder.output("logits", {"batch", sizes.classes});
  return network;
}

} // namespace dtc::model
