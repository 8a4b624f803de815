//===- InlineNodes.h - inlines functions and inner graphs -------*- C++ -*-===//
//
// Local functions, the branch that an If takes and the iterations of a loop
// become nodes of the graph itself, with unique names.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_FILE_INLINENODES_H
#define DTC_FRONTEND_FILE_INLINENODES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <onnx/onnx_pb.h>

#include <vector>

namespace dtc::frontend {

/// Replaces each call of a local function by the nodes of the function. Errors
/// as of verifyFunctionCalls, and if a function uses another opset than the
/// model.
llvm::Error inlineFunctions(onnx::ModelProto &model);

/// The nodes of an inner graph, and their names for its outputs.
struct InlinedGraph {
  std::vector<onnx::NodeProto> nodes;
  std::vector<std::string> outputs;
};

/// Inlines a graph whose inputs are the values `inputs`. Initializers become
/// Constant nodes. The names of all other values begin with `prefix`.
InlinedGraph inlineGraph(const onnx::GraphProto &graph,
                         llvm::ArrayRef<std::string> inputs,
                         llvm::StringRef prefix);

/// Inlines a branch of `node`, an If. Identity nodes give the branch's results
/// the names of the results of `node`.
std::vector<onnx::NodeProto> inlineBranch(const onnx::NodeProto &node,
                                          const onnx::GraphProto &branch,
                                          llvm::StringRef prefix);

/// Calls `callback` with each name that the inner graphs of a node, such as the
/// branches of an If, read from the outer graph.
void forEachCapture(const onnx::NodeProto &node,
                    llvm::function_ref<void(const std::string &)> callback);
/// Calls `callback` with each name that a node reads: captures and inputs.
void forEachRead(const onnx::NodeProto &node,
                 llvm::function_ref<void(const std::string &)> callback);

/// The values that an output depends on.
llvm::StringSet<> findLive(const onnx::GraphProto &graph);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_FILE_INLINENODES_H
