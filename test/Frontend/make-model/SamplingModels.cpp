//===- SamplingModels.cpp - samples and sums of windows, refused ----------===//

#include "Models.h"

namespace dtc::test {

namespace {
/// y = op(inputs). Inputs without a name are constants.
struct Single {
  ModelBuilder m{20};
  onnx::NodeProto *node;

  Single(const char *op, const std::vector<Dims> &inputs,
         const std::vector<Ints> &known = {}) {
    Names names;
    for (const Dims &dims : inputs) {
      names.push_back("x" + std::to_string(names.size()));
      m.input(names.back(), dims);
    }
    for (const Ints &values : known) {
      names.push_back("x" + std::to_string(names.size()));
      m.ints(names.back(), values);
    }
    node = &m.node(op, "node", names, {"y"});
    m.output("y");
  }
  template <typename T> Single with(const char *name, const T &value) && {
    ModelBuilder::set(*node, name, value);
    return std::move(*this);
  }
};

Single gridSample(const Dims &grid) {
  return Single("GridSample", {{"batch", 3, 4, 5}, grid});
}
File gridShape() { return gridSample({"batch", 2, 2, 3}).m; }
File gridMode() {
  return gridSample({"batch", 2, 2, 2}).with("mode", std::string("area")).m;
}
File gridPadding() {
  return gridSample({"batch", 2, 2, 2})
      .with("padding_mode", std::string("wrap"))
      .m;
}
File affineSize() {
  return Single("AffineGrid", {{"batch", 2, 3}}, {{2, 3, 4}}).m;
}

Single col2Im(const Dims &x, const Ints &image, const Ints &block) {
  return Single("Col2Im", {x}, {image, block});
}
File col2ImOperand() { return col2Im({"batch", 8, 6}, {4, 4}, {2, 2}).m; }
File col2ImDims() { return col2Im({"batch", 8, 27}, {4, 4, 4}, {2, 2, 2}).m; }
File col2ImWindow() { return col2Im({"batch", 8, 1}, {4, 4}, {2, 0}).m; }

Single deformConv(const Dims &x, const Dims &weight, const Dims &offset) {
  return Single("DeformConv", {x, weight, offset});
}
File deformRank() {
  return deformConv({"batch", 2, 8}, {4, 2, 3}, {"batch", 6, 6}).m;
}
File deformGroups() {
  return deformConv({"batch", 2, 4, 4}, {4, 2, 3, 3}, {"batch", 18, 2, 2})
      .with("group", int64_t(2))
      .m;
}
File deformOffset() {
  return deformConv({"batch", 2, 4, 4}, {4, 2, 3, 3}, {"batch", 9, 2, 2}).m;
}

File lrnSize() {
  return Single("LRN", {{"batch", 4, 2, 2}}).with("size", int64_t(0)).m;
}
File lpPower() {
  return Single("GlobalLpPool", {{"batch", 4, 2, 2}}).with("p", int64_t(0)).m;
}
File reverseAxes() {
  return Single("ReverseSequence", {{"batch", 4, 2}}, {{1, 2}})
      .with("time_axis", int64_t(2))
      .m;
}
File reverseLengths() {
  return Single("ReverseSequence", {{4, "batch", 2}}, {{1, 2, 3}}).m;
}
} // namespace

void addSamplingModels(ModelTable &table) {
  table["grid-shape"] = gridShape;
  table["grid-mode"] = gridMode;
  table["grid-padding"] = gridPadding;
  table["affine-size"] = affineSize;
  table["col2im-operand"] = col2ImOperand;
  table["col2im-dims"] = col2ImDims;
  table["col2im-window"] = col2ImWindow;
  table["deform-rank"] = deformRank;
  table["deform-groups"] = deformGroups;
  table["deform-offset"] = deformOffset;
  table["lrn-size"] = lrnSize;
  table["lp-power"] = lpPower;
  table["reverse-axes"] = reverseAxes;
  table["reverse-lengths"] = reverseLengths;
}

} // namespace dtc::test
