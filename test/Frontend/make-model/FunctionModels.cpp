//===- FunctionModels.cpp - models whose functions call functions ---------===//

#include "Models.h"

namespace dtc::test {

namespace {
/// Adds a function of one input and one output. Its nodes are a chain of these
/// operators.
void addFunction(ModelBuilder &m, const std::string &name, const Names &ops) {
  onnx::FunctionProto &function = *m.model.add_functions();
  function.set_domain("test");
  function.set_name(name);
  function.add_input("v0");
  auto &standard = *function.add_opset_import();
  standard.set_domain("");
  standard.set_version(17);
  auto &own = *function.add_opset_import();
  own.set_domain("test");
  own.set_version(1);
  for (size_t i = 0; i < ops.size(); ++i) {
    onnx::NodeProto &node = *function.add_node();
    node.set_op_type(ops[i]);
    if (ops[i].front() == 'f') // a function of this file
      node.set_domain("test");
    node.set_name("call" + std::to_string(i));
    node.add_input("v" + std::to_string(i));
    node.add_output("v" + std::to_string(i + 1));
  }
  function.add_output("v" + std::to_string(ops.size()));
}

/// y = fN(x) * w, of functions f0 to fN.
ModelBuilder callLast(ModelBuilder m, int last) {
  auto &own = *m.model.add_opset_import();
  own.set_domain("test");
  own.set_version(1);
  m.input("x", {"batch", 4});
  m.weight("w", Ints{4, 4});
  m.node("f" + std::to_string(last), "top", {"x"}, {"h"});
  m.graph().mutable_node(0)->set_domain("test");
  m.node("MatMul", "product", {"h", "w"}, {"y"});
  m.output("y");
  return m;
}

/// Each function calls the one before it `calls` times; f0 is a Relu.
ModelBuilder chain(int length, size_t calls) {
  ModelBuilder m(17);
  addFunction(m, "f0", {"Relu"});
  for (int i = 1; i < length; ++i)
    addFunction(m, "f" + std::to_string(i),
                Names(calls, "f" + std::to_string(i - 1)));
  return callLast(std::move(m), length - 1);
}
File longChain() { return chain(3000, 1); }
File doubling() { return chain(65, 2); }
File manyNodes() { return chain(23, 2); }

/// The top function calls two that call each other.
File recursion() {
  ModelBuilder m(17);
  addFunction(m, "f0", {"Relu", "f1"});
  addFunction(m, "f1", {"f0"});
  addFunction(m, "f2", {"f1"});
  return callLast(std::move(m), 2);
}
} // namespace

void addFunctionModels(ModelTable &table) {
  table["functions-long-chain"] = longChain;
  table["functions-doubling"] = doubling;
  table["functions-many-nodes"] = manyNodes;
  table["functions-recursion"] = recursion;
}

} // namespace dtc::test
