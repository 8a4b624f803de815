//===- MaskModels.cpp - elements that a mask selects ----------------------===//
//
// Selects elements of a product [batch, 4] where the input is positive.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

namespace dtc::test {

namespace {
/// Adds "p", the "places" of positive elements of "x", and "chosen", p at these
/// places.
ModelBuilder select() {
  ModelBuilder m(18);
  m.input("x", {"batch", 4});
  m.weight("w", {4, 4});
  m.weight("zero", {}, {0});
  m.node("MatMul", "product", {"x", "w"}, {"p"});
  m.node("Greater", "positive", {"x", "zero"}, {"mask"});
  m.node("NonZero", "nonzero", {"mask"}, {"coordinates"});
  m.set(m.node("Transpose", "turn", {"coordinates"}, {"places"}), "perm",
        Ints{1, 0});
  m.node("GatherND", "choose", {"p", "places"}, {"chosen"});
  return m;
}

File meanOfSelected() {
  ModelBuilder m = select();
  m.set(m.node("ReduceMean", "mean", {"chosen"}, {"y"}), "keepdims",
        int64_t(0));
  m.output("y");
  return m;
}

/// One node for each use that dtc refuses.
File misusedSelections() {
  ModelBuilder m = select();
  m.weight("three", {3});
  m.weight("base", {4, 4});
  m.ints("one", {1});
  m.ints("two", {2});
  m.ints("start", {0});
  m.ints("end", {3});
  m.ints("pairs", {-1, 2});
  m.ints("fixed", {8});
  m.node("Slice", "part", {"chosen", "start", "end"}, {"a"});
  m.node("Add", "sum", {"chosen", "three"}, {"b"});
  m.node("CumSum", "prefixes", {"chosen", "start"}, {"c"});
  m.set(m.node("Softmax", "together", {"chosen"}, {"d"}), "axis", int64_t(0));
  m.node("TopK", "best", {"chosen", "two"}, {"e", "f"});
  m.node("Reshape", "pairs", {"chosen", "pairs"}, {"g"});
  m.node("Reshape", "fixed", {"chosen", "fixed"}, {"h"});
  m.set(m.node("Concat", "joined", {"chosen", "three"}, {"i"}), "axis",
        int64_t(0));
  m.node("ScatterND", "put", {"base", "places", "three"}, {"j"});
  m.node("Shape", "count", {"chosen"}, {"count"});
  m.node("Tile", "tiled", {"three", "count"}, {"k"});
  m.node("MatMul", "dot", {"chosen", "chosen"}, {"l"});
  m.set(m.node("ReduceMax", "place", {"places"}, {"n"}), "keepdims",
        int64_t(0));
  m.node("Slice", "columns", {"base", "start", "count", "one"}, {"o"});
  m.node("Greater", "large", {"chosen", "zero"}, {"r"});
  m.node("NonZero", "again", {"r"}, {"s"});
  m.node("Mul", "number", {"s", "s"}, {"t"});
  for (const char *name :
       {"o", "a", "b", "c", "d", "e", "g", "h", "i", "j", "k", "l", "chosen"})
    m.output(name);
  for (const char *name : {"n", "t"})
    m.output(name, onnx::TensorProto::INT64);
  return m;
}
} // namespace

void addMaskModels(ModelTable &table) {
  table["mean-of-selected"] = meanOfSelected;
  table["misused-selections"] = misusedSelections;
}

} // namespace dtc::test
