//===- HugeModels.cpp - numbers that no model needs -----------------------===//
//
// Sizes and positions whose sums and products do not fit into 64 bits, loops
// that would not end, and attributes of the wrong type.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include <limits>

namespace dtc::test {

namespace {
constexpr int64_t most = std::numeric_limits<int64_t>::max();

/// y = op(x, ...) for x of shape [batch, 4].
ModelBuilder apply(const char *op, Names others = {},
                   const Dims &dims = {"batch", 4}) {
  ModelBuilder m;
  m.input("x", dims);
  others.insert(others.begin(), "x");
  m.node(op, "node", others, {"y"});
  m.output("y");
  return m;
}
onnx::NodeProto &node(ModelBuilder &m) { return *m.graph().mutable_node(0); }

/// y = op(x, numbers).
File withInts(const char *op, const Ints &values) {
  ModelBuilder m = apply(op, {"numbers"});
  m.ints("numbers", values);
  return m;
}

File input() { return apply("Relu", {}, {"batch", int64_t(1) << 40, 1 << 20}); }
File image() {
  ModelBuilder m = apply("MaxPool", {}, {"batch", 1, int64_t(1) << 40, 8});
  m.set(node(m), "kernel_shape", Ints{2, 2});
  return m;
}
File padding() {
  ModelBuilder m = apply("MaxPool", {}, {"batch", 1, 8, 1 << 30});
  m.set(node(m), "kernel_shape", Ints{2, 2});
  m.set(node(m), "pads", Ints{1, 1, 1, 1 << 30});
  return m;
}
File reshape() {
  return withInts("Reshape", {int64_t(1) << 32, int64_t(1) << 32, 16});
}
File expand() { return withInts("Expand", {int64_t(1) << 62, 1, 1}); }
File negative() { return withInts("Expand", {-3, 1, 1}); }
File tile() { return withInts("Tile", {1, most}); }
File pad() {
  ModelBuilder m = apply("Pad", {"numbers"});
  m.ints("numbers", {0, most, 0, most});
  return m;
}
File split() {
  ModelBuilder m = apply("Split", {"numbers"});
  m.set(node(m), "axis", 1);
  node(m).add_output("z");
  m.ints("numbers", {most, -most + 4});
  return m;
}
File concat() {
  ModelBuilder m = apply("Concat", {"x", "x"}, {"batch", int64_t(1) << 46});
  m.set(node(m), "axis", 1);
  return m;
}
/// Constants of 2^12 elements, along three dimensions.
File product() {
  ModelBuilder m;
  m.input("x", {"batch", 4});
  m.ints("size", {1 << 12});
  m.ints("rows", {1 << 12, 1});
  m.ints("planes", {1 << 12, 1, 1});
  m.node("ConstantOfShape", "zeros", {"size"}, {"v"});
  m.node("Reshape", "", {"v", "rows"}, {"r"});
  m.node("Reshape", "", {"v", "planes"}, {"p"});
  m.node("Add", "square", {"v", "r"}, {"s"});
  m.node("Add", "cube", {"s", "p"}, {"c"});
  m.node("Add", "node", {"x", "c"}, {"y"});
  m.output("y");
  return m;
}
File sliceTwice() {
  ModelBuilder m = apply("Slice", {"ones", "ends", "axes"});
  m.ints("ones", {3, 3});
  m.ints("ends", {4, 4});
  m.ints("axes", {1, -1});
  return m;
}
/// Steps and bounds may have any int64_t value.
File slice() {
  ModelBuilder m = apply("Slice", {"starts", "ends", "axes", "steps"});
  m.ints("starts", {-most});
  m.ints("ends", {most});
  m.ints("axes", {1});
  m.ints("steps", {most});
  return m;
}
/// Trilu with a diagonal far outside of the matrix.
File triangle() {
  ModelBuilder m = apply("Trilu", {"k"});
  m.set(node(m), "upper", 0);
  m.ints("k", {most});
  return m;
}

/// y = relu(relu(... w x + c) + c), 4000 times.
File chain() {
  ModelBuilder m;
  m.input("x", {"batch", 4});
  m.weight("w", {4, 4});
  m.weight("c", {1});
  m.node("MatMul", "product", {"x", "w"}, {"0"});
  for (int i = 0; i < 4000; ++i) {
    std::string from = std::to_string(i), to = std::to_string(i + 1);
    m.node("Add", "", {from, "c"}, {from + "+c"});
    m.node("Relu", "", {from + "+c"}, {to});
  }
  m.output("4000");
  return m;
}

File floatAxis() {
  ModelBuilder m = apply("Softmax");
  m.setFloat(node(m), "axis", 1);
  return m;
}
File textAxes() {
  ModelBuilder m = apply("ReduceSum");
  m.set(node(m), "keepdims", std::string("1"));
  return m;
}
File oneAxes() {
  ModelBuilder m(11);
  m.input("x", {"batch", 4});
  m.set(m.node("ReduceMean", "node", {"x"}, {"y"}), "axes", 1);
  m.output("y");
  return m;
}
File twice() {
  ModelBuilder m = apply("Softmax");
  m.set(node(m), "axis", 1);
  m.set(node(m), "axis", 0);
  return m;
}
} // namespace

void addHugeModels(ModelTable &table) {
  table["huge-input"] = input;
  table["huge-image"] = image;
  table["huge-padding"] = padding;
  table["huge-reshape"] = reshape;
  table["huge-expand"] = expand;
  table["negative-expand"] = negative;
  table["huge-tile"] = tile;
  table["huge-pad"] = pad;
  table["huge-split"] = split;
  table["huge-concat"] = concat;
  table["huge-product"] = product;
  table["slice-twice"] = sliceTwice;
  table["huge-slice"] = slice;
  table["huge-triangle"] = triangle;
  table["chain"] = chain;
  table["float-axis"] = floatAxis;
  table["text-keepdims"] = textAxes;
  table["single-axes"] = oneAxes;
  table["attribute-twice"] = twice;
}

} // namespace dtc::test
