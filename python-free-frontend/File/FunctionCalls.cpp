//===- FunctionCalls.cpp - size of local functions ------------------------===//
//
// Computes the size of a function after the functions that it calls, without
// recursion: a model may have thousands of functions, each of which calls the
// one before.
//
//===----------------------------------------------------------------------===//

#include "File/FunctionCalls.h"
#include "Support/Problem.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace dtc::frontend {

namespace {
using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// The calls and nodes of a graph or a function, inner graphs included.
struct Content {
  uint64_t others = 0; ///< nodes that call no function
  std::vector<const onnx::FunctionProto *> calls;
};

class Counter {
public:
  explicit Counter(const FunctionTable &functions) : functions(functions) {}
  Error run(const onnx::GraphProto &graph);

private:
  void read(const Nodes &nodes, Content &content) const;
  void countFunctions();
  std::string findRecursion(const onnx::FunctionProto *function) const;

  const FunctionTable &functions;
  std::map<const onnx::FunctionProto *, Content> contents;
  /// Number of nodes of a function after inlining all calls in it. Functions
  /// that call themselves, and their callers, have no size.
  std::map<const onnx::FunctionProto *, uint64_t> sizes;
};
} // namespace

void Counter::read(const Nodes &nodes, Content &content) const {
  for (const onnx::NodeProto &node : nodes) {
    auto function = functions.find({node.domain(), node.op_type()});
    if (function != functions.end()) {
      content.calls.push_back(function->second);
      continue;
    }
    ++content.others;
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        read(attribute.g().node(), content);
  }
}

void Counter::countFunctions() {
  std::map<const onnx::FunctionProto *, size_t> waits;
  std::map<const onnx::FunctionProto *,
           std::vector<const onnx::FunctionProto *>>
      callers;
  std::vector<const onnx::FunctionProto *> ready;
  for (const auto &[key, function] : functions) {
    Content &content = contents[function];
    read(function->node(), content);
    waits[function] = content.calls.size();
    for (const onnx::FunctionProto *called : content.calls)
      callers[called].push_back(function);
    if (content.calls.empty())
      ready.push_back(function);
  }
  while (!ready.empty()) {
    const onnx::FunctionProto *function = ready.back();
    ready.pop_back();
    uint64_t size = contents[function].others;
    for (const onnx::FunctionProto *called : contents[function].calls)
      size = SaturatingAdd(size, sizes[called]);
    sizes[function] = size;
    for (const onnx::FunctionProto *caller : callers[function])
      if (--waits[caller] == 0)
        ready.push_back(caller);
  }
}

/// Finds a function that calls itself. Starts from one without a size, and
/// follows calls of functions without a size.
std::string Counter::findRecursion(const onnx::FunctionProto *function) const {
  SmallPtrSet<const onnx::FunctionProto *, 8> seen;
  while (seen.insert(function).second)
    for (const onnx::FunctionProto *called : contents.at(function).calls)
      if (!sizes.count(called)) {
        function = called;
        break;
      }
  return function->name();
}

Error Counter::run(const onnx::GraphProto &graph) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  constexpr uint64_t mostNodes = 1 << 10; // a fuzzer tries many models
#else
  constexpr uint64_t mostNodes = 1 << 18;
#endif
  countFunctions();
  Content content;
  read(graph.node(), content);
  uint64_t size = 0;
  for (const onnx::FunctionProto *called : content.calls) {
    auto own = sizes.find(called);
    if (own == sizes.end())
      return problem("function '" + findRecursion(called) + "' calls itself",
                     "the model is not valid ONNX; export it again");
    size = SaturatingAdd(size, own->second);
  }
  if (size > mostNodes)
    return problem("the calls of its functions expand to more than " +
                       Twine(mostNodes) + " nodes",
                   "export the model with fewer calls of functions");
  return Error::success();
}

Error verifyFunctionCalls(const onnx::GraphProto &graph,
                          const FunctionTable &functions) {
  return Counter(functions).run(graph);
}

} // namespace dtc::frontend
