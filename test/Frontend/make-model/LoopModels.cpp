//===- LoopModels.cpp - loops, imported and refused -----------------------===//

#include "Models.h"

namespace dtc::test {

namespace {
void setBody(onnx::NodeProto &node, const ModelBuilder &body) {
  onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name("body");
  attribute.set_type(onnx::AttributeProto::GRAPH);
  *attribute.mutable_g() = body.model.graph();
}

/// x [batch, 4] goes through a Loop, or a Scan of s [5, batch, 4].
struct Loop {
  ModelBuilder m{20}, body{20};
  onnx::NodeProto *node;

  explicit Loop(const Names &operands, const char *op = "Loop",
                const Names &results = {"y"}) {
    m.input("x", {"batch", 4});
    m.ints("three", {3}).clear_dims();
    m.ints("none", {0}).clear_dims();
    node = &m.node(op, "loop", operands, results);
    m.output(results.back());
  }
  File finish() {
    setBody(*node, body);
    return m;
  }
  /// Begins a body that computes `next` from `now`. The loop continues while
  /// `goesOn` is true.
  void beginBody(const char *goesOn) {
    body.input("i", {}, onnx::TensorProto::INT64);
    body.input("go", {}, onnx::TensorProto::BOOL);
    body.input("now", {"batch", 4});
    body.node("Relu", "relu", {"now"}, {"next"});
    body.output(goesOn, onnx::TensorProto::BOOL);
    body.output("next");
  }
};

File rounds() {
  Loop loop({"three", "", "x"});
  loop.beginBody("go");
  return loop.finish();
}
/// Nested loops of nodes without names. The weight is in the inner body.
File nested() {
  Loop outer({"three", "", "x"}), inner({"three", "", "x"});
  inner.body.weight("w", {4, 4});
  inner.beginBody("go");
  inner.body.graph().mutable_node(0)->set_op_type("MatMul");
  inner.body.graph().mutable_node(0)->add_input("w");
  onnx::NodeProto &node =
      outer.body.node("Loop", "", {"three", "", "now"}, {"next"});
  inner.body.graph().mutable_node(0)->clear_name();
  setBody(node, inner.body);
  outer.body.input("i", {}, onnx::TensorProto::INT64);
  outer.body.input("go", {}, onnx::TensorProto::BOOL);
  outer.body.input("now", {"batch", 4});
  outer.body.output("go", onnx::TensorProto::BOOL);
  outer.body.output("next");
  outer.node->clear_name();
  return outer.finish();
}
/// The condition is an empty tensor.
File emptyCondition() {
  Loop loop({"three", "nothing", "x"});
  loop.m.ints("nothing", {});
  loop.beginBody("go");
  return loop.finish();
}
File conditionAtRunTime() {
  Loop loop({"", "", "x"});
  loop.body.node("ReduceMax", "max", {"now"}, {"largest"});
  ModelBuilder::set(loop.body.graph().mutable_node()->at(0), "keepdims",
                    int64_t(0));
  loop.body.node("Cast", "cast", {"largest"}, {"goes"});
  ModelBuilder::set(loop.body.graph().mutable_node()->at(1), "to",
                    int64_t(onnx::TensorProto::BOOL));
  loop.beginBody("goes");
  return loop.finish();
}
File countAtRunTime() {
  Loop loop({"count", "", "x"});
  loop.m.input("count", {1}, onnx::TensorProto::INT64);
  loop.beginBody("go");
  return loop.finish();
}
File endless() {
  Loop loop({"", "", "x"});
  loop.beginBody("go");
  return loop.finish();
}
File withoutBody() { return Loop({"three", "", "x"}).m; }
File otherBody() {
  Loop loop({"three", "", "x", "x"}, "Loop", {"y", "z"});
  loop.beginBody("go");
  return loop.finish();
}
File withoutRounds() {
  Loop loop({"none", "", "x"}, "Loop", {"y", "all"});
  loop.beginBody("go");
  loop.body.output("next");
  return loop.finish();
}
File problemInside() {
  Loop loop({"three", "", "x"});
  loop.body.node("Frobnicate", "unknown", {"now"}, {"odd"});
  loop.beginBody("go");
  return loop.finish();
}

Loop scan(const Names &operands) {
  Loop loop(operands, "Scan");
  loop.m.input("s", {5, "batch", 4});
  loop.m.input("t", {3, "batch", 4});
  return loop;
}
File scanLists() {
  Loop loop = scan({"s", "t"});
  ModelBuilder::set(*loop.node, "num_scan_inputs", int64_t(2));
  return loop.finish();
}
File scanWithoutLists() {
  Loop loop = scan({"x"});
  ModelBuilder::set(*loop.node, "num_scan_inputs", int64_t(0));
  return loop.finish();
}
File scanAxes() {
  Loop loop = scan({"x", "s"});
  ModelBuilder::set(*loop.node, "num_scan_inputs", int64_t(1));
  ModelBuilder::set(*loop.node, "scan_input_axes", Ints{0, 1});
  return loop.finish();
}

/// Row i of the result is the mean of rows 2 i and 2 i + 1 of a table.
File bags() {
  ModelBuilder m(20);
  m.input("ids", {"batch", 2}, onnx::TensorProto::INT64);
  m.weight("table", {9, 3});
  m.ints("flat", {-1});
  m.ints("rounds", {4}).clear_dims();
  m.node("Reshape", "reshape", {"ids", "flat"}, {"all"});
  onnx::NodeProto &node = m.node("Loop", "loop", {"rounds", ""}, {"y"});
  m.output("y");
  ModelBuilder body(20);
  body.input("i", {}, onnx::TensorProto::INT64);
  body.input("go", {}, onnx::TensorProto::BOOL);
  body.ints("two", {2});
  body.ints("first", {0});
  body.node("Mul", "mul", {"i", "two"}, {"start"});
  body.node("Add", "add", {"start", "two"}, {"end"});
  body.node("Slice", "slice", {"all", "start", "end"}, {"bag"});
  body.node("Gather", "gather", {"table", "bag"}, {"rows"});
  body.node("ReduceMean", "mean", {"rows", "first"}, {"row"});
  ModelBuilder::set(body.graph().mutable_node()->at(4), "keepdims", int64_t(0));
  body.output("go", onnx::TensorProto::BOOL);
  body.output("row");
  setBody(node, body);
  return m;
}
/// Each row of the result is a row of x times its sum, a scalar.
File rowsBySums() {
  ModelBuilder m(20);
  m.input("x", {"batch", 3});
  m.ints("rounds", {4}).clear_dims();
  onnx::NodeProto &node = m.node("Loop", "loop", {"rounds", ""}, {"y"});
  m.output("y");
  ModelBuilder body(20);
  body.input("i", {}, onnx::TensorProto::INT64);
  body.input("go", {}, onnx::TensorProto::BOOL);
  body.node("Gather", "gather", {"x", "i"}, {"row"});
  body.node("ReduceSum", "sum", {"row"}, {"total"});
  ModelBuilder::set(body.graph().mutable_node()->at(1), "keepdims", int64_t(0));
  body.node("Mul", "mul", {"row", "total"}, {"scaled"});
  body.output("go", onnx::TensorProto::BOOL);
  body.output("scaled");
  setBody(node, body);
  return m;
}
} // namespace

void addLoopModels(ModelTable &table) {
  table["loop-rounds"] = rounds;
  table["loop-nested"] = nested;
  table["loop-empty-condition"] = emptyCondition;
  table["loop-condition-at-run-time"] = conditionAtRunTime;
  table["loop-count-at-run-time"] = countAtRunTime;
  table["loop-endless"] = endless;
  table["loop-without-body"] = withoutBody;
  table["loop-other-body"] = otherBody;
  table["loop-without-rounds"] = withoutRounds;
  table["loop-problem-inside"] = problemInside;
  table["scan-lists"] = scanLists;
  table["scan-without-lists"] = scanWithoutLists;
  table["scan-axes"] = scanAxes;
  table["loop-bags"] = bags;
  table["loop-rows-by-sums"] = rowsBySums;
}

} // namespace dtc::test
