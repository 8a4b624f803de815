//===- IndexModels.cpp - lookups at computed indices ----------------------===//
//
// Tables have ten elements or rows. The losses tell which ones were found.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

namespace dtc::test {

namespace {
/// Looks up rows of a table and elements of a row, and makes one-hot rows, at
/// index + shift.
ModelBuilder lookups(int64_t shift) {
  ModelBuilder m(18);
  m.input("input", {"batch", 64});
  m.input("index", {"batch"}, onnx::TensorProto::INT64);
  std::vector<float> table, factors;
  for (int i = 0; i < 640; ++i)
    table.push_back(float(i % 7) / 7);
  for (int i = 0; i < 10; ++i)
    factors.push_back(float(i + 1) / 10);
  m.weight("table", {10, 64}, table);
  m.weight("gains", {10}, factors);
  m.weight("scales", {10, 1}, factors);
  m.ints("shift", {shift});
  m.ints("last", {1});
  m.node("Add", "shifted", {"index", "shift"}, {"place"});
  m.node("Gather", "rows", {"table", "place"}, {"found"});
  m.node("Unsqueeze", "column", {"place", "last"}, {"places"});
  m.node("Shape", "size", {"places"}, {"size"});
  m.ints("ten", {1, 10});
  m.node("Max", "whole", {"size", "ten"}, {"all"});
  m.node("Expand", "expand", {"gains", "all"}, {"repeated"});
  m.node("GatherElements", "element", {"repeated", "places"}, {"gain"});
  m.set(*m.graph().mutable_node()->rbegin(), "axis", 1);
  m.node("Sub", "zeros", {"repeated", "repeated"}, {"none"});
  m.weight("one", {1}, {1});
  m.node("Expand", "ones", {"one", "size"}, {"once"});
  m.node("ScatterElements", "mark", {"none", "places", "once"}, {"marked"});
  m.set(*m.graph().mutable_node()->rbegin(), "axis", 1);
  m.node("MatMul", "choose", {"marked", "scales"}, {"scale"});
  m.node("Mul", "gained", {"found", "gain"}, {"a"});
  m.node("Mul", "scaled", {"a", "scale"}, {"b"});
  m.node("Sub", "error", {"b", "input"}, {"c"});
  m.node("Mul", "square", {"c", "c"}, {"d"});
  m.node("ReduceMean", "loss", {"d"}, {"y"});
  m.set(*m.graph().mutable_node()->rbegin(), "keepdims", int64_t(0));
  m.output("y");
  return m;
}

template <int64_t shift> File shifted() { return lookups(shift); }

/// The data are positions in a row of five elements.
File marked() {
  ModelBuilder m(18);
  m.input("input", {"batch", 64});
  m.input("index", {"batch"}, onnx::TensorProto::INT64);
  m.weight("gains", {64, 5});
  m.weight("one", {1}, {1});
  m.node("MatMul", "gain", {"input", "gains"}, {"row"});
  m.ints("last", {1});
  m.node("Unsqueeze", "column", {"index", "last"}, {"places"});
  m.node("Shape", "size", {"places"}, {"size"});
  m.node("Expand", "ones", {"one", "size"}, {"once"});
  m.node("ScatterElements", "mark", {"row", "places", "once"}, {"marked"});
  m.set(*m.graph().mutable_node()->rbegin(), "axis", 1);
  m.set(*m.graph().mutable_node()->rbegin(), "reduction", "add");
  m.node("Mul", "square", {"marked", "marked"}, {"a"});
  m.node("ReduceMean", "loss", {"a"}, {"y"});
  m.set(*m.graph().mutable_node()->rbegin(), "keepdims", int64_t(0));
  m.output("y");
  return m;
}

/// Casts that change an index: to fewer bits, which may make a large one
/// negative, and to a boolean, which does not bound the data.
File casts() {
  ModelBuilder m(18);
  m.input("index", {"batch"}, onnx::TensorProto::INT64);
  m.input("flag", {"batch"}, onnx::TensorProto::INT64);
  m.weight("table", {10, 4});
  m.weight("pair", {2, 4});
  m.ints("zero", {0}).clear_dims();
  auto cast = [&](const std::string &from, const std::string &to, int type) {
    m.set(m.node("Cast", to, {from}, {to}), "to", int64_t(type));
  };
  m.node("Max", "limit", {"index", "zero"}, {"limited"});
  cast("limited", "narrow", onnx::TensorProto::INT32);
  m.node("Gather", "found", {"table", "narrow"}, {"y0"});
  cast("flag", "isSet", onnx::TensorProto::BOOL);
  cast("isSet", "choice", onnx::TensorProto::INT64);
  m.node("Gather", "chosen", {"pair", "choice"}, {"chosen"});
  m.node("Add", "sum", {"y0", "chosen"}, {"y"});
  m.output("y");
  return m;
}

/// Replaces all rows of a tensor in order, as PyTorch's exporter writes z[:,
/// 1::2] = x.
File whole() {
  ModelBuilder m(18);
  m.input("x", {"batch", 4});
  m.weight("w", {4, 4});
  m.node("MatMul", "product", {"x", "w"}, {"rows"});
  m.node("Shape", "shape", {"x"}, {"shape"});
  m.ints("zero", {0}).clear_dims();
  m.ints("one", {1}).clear_dims();
  m.ints("last", {1});
  m.node("Gather", "size", {"shape", "zero"}, {"size"});
  m.node("Range", "range", {"zero", "size", "one"}, {"numbers"});
  m.node("Unsqueeze", "column", {"numbers", "last"}, {"places"});
  m.node("ScatterND", "put", {"x", "places", "rows"}, {"a"});
  m.node("ScatterND", "add", {"x", "places", "a"}, {"y"});
  m.set(*m.graph().mutable_node()->rbegin(), "reduction", "add");
  m.output("y");
  return m;
}

/// Indices whose computation bounds them, so that they need no check.
File bounded() {
  ModelBuilder m(18);
  m.input("x", {"batch", 10});
  m.input("index", {"batch"}, onnx::TensorProto::INT64);
  m.weight("table", {10, 4});
  m.ints("zero", {0}).clear_dims();
  m.ints("nine", {9}).clear_dims();
  m.node("Clip", "limit", {"index", "zero", "nine"}, {"limited"});
  m.node("Gather", "limited", {"table", "limited"}, {"y0"});
  m.node("ArgMax", "largest", {"x"}, {"best"});
  m.set(*m.graph().mutable_node()->rbegin(), "axis", 1);
  m.node("Gather", "best", {"table", "best"}, {"y1"});
  m.node("Sub", "mirror", {"nine", "best"}, {"mirrored"});
  m.node("Gather", "mirrored", {"table", "mirrored"}, {"y2"});
  m.ints("three", {3});
  m.node("TopK", "top", {"x", "three"}, {"values", "places"});
  m.node("Gather", "top", {"table", "places"}, {"y3"});
  for (const char *name : {"y0", "y1", "y2", "y3"})
    m.output(name);
  return m;
}
} // namespace

void addIndexModels(ModelTable &table) {
  table["indices"] = shifted<0>;
  table["indices-from-end"] = shifted<-10>;
  table["indices-outside"] = shifted<5>;
  table["indices-of-data"] = marked;
  table["indices-bounded"] = bounded;
  table["indices-cast"] = casts;
  table["indices-whole"] = whole;
}

} // namespace dtc::test
