//===- SpectrumModels.cpp - Fourier transforms that dtc refuses -----------===//

#include "Models.h"

namespace dtc::test {

namespace {
/// y = DFT(x) or STFT(x), with constant operands.
struct Transform {
  ModelBuilder m;
  onnx::NodeProto *node;

  Transform(const char *op, const Dims &x,
            const std::vector<std::pair<const char *, Ints>> &rest = {}) {
    m.input("x", x);
    Names inputs = {"x"};
    for (const auto &[name, values] : rest) {
      inputs.emplace_back(name);
      m.ints(name, values);
    }
    node = &m.node(op, "node", inputs, {"y"});
    m.output("y");
  }
};

File parts() { return Transform("DFT", {"batch", 8, 3}).m; }
File axis() {
  Transform model("DFT", {"batch", 8, 1});
  ModelBuilder::set(*model.node, "axis", int64_t(2));
  return model.m;
}
File noLength() {
  return Transform("DFT", {"batch", 8, 1}, {{"length", {0}}}).m;
}
File inverseOfOneSide() {
  Transform model("DFT", {"batch", 8, 1});
  ModelBuilder::set(*model.node, "onesided", int64_t(1));
  ModelBuilder::set(*model.node, "inverse", int64_t(1));
  return model.m;
}
File axisOperand() {
  return Transform("DFT", {"batch", 8, 1}, {{"length", {8}}, {"axis", {1}}}).m;
}
File huge() {
  return Transform("DFT", {"batch", 8, 1}, {{"length", {int64_t(1) << 60}}}).m;
}
File large() { return Transform("DFT", {"batch", 8192, 1}).m; }

File noFrames() {
  return Transform("STFT", {"batch", 8, 1}, {{"step", {2}}}).m;
}
File signal() {
  return Transform("STFT", {"batch", 8, 8, 1}, {{"step", {2}}, {"w", {1, 1}}})
      .m;
}
File frames() {
  return Transform("STFT", {"batch", 8, 1}, {{"step", {2}}, {"w", Ints(9, 1)}})
      .m;
}
File window() {
  return Transform("STFT", {"batch", 8, 1},
                   {{"step", {2}}, {"w", {1, 1}}, {"length", {4}}})
      .m;
}
File complexFrames() {
  return Transform("STFT", {"batch", 8, 2}, {{"step", {2}}, {"w", {1, 1}}}).m;
}
} // namespace

void addSpectrumModels(ModelTable &table) {
  table["dft-parts"] = parts;
  table["dft-axis"] = axis;
  table["dft-no-length"] = noLength;
  table["dft-inverse-of-one-side"] = inverseOfOneSide;
  table["dft-axis-operand"] = axisOperand;
  table["dft-huge"] = huge;
  table["dft-large"] = large;
  table["stft-no-frames"] = noFrames;
  table["stft-signal"] = signal;
  table["stft-frames"] = frames;
  table["stft-window"] = window;
  table["stft-complex"] = complexFrames;
}

} // namespace dtc::test
