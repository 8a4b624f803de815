//===- InlineNodes.h - nodes of functions and inner graphs ------*- C++ -*-===//
//
// Local functions, the branch that an If takes and the rounds of a loop become
// nodes of the graph itself, with names of their own.
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

/// Replaces each call of a function of the model by the function's nodes.
llvm::Error inlineFunctions(onnx::ModelProto &model);

/// An inner graph's nodes, and what its outputs are called by them.
struct InlinedGraph {
  std::vector<onnx::NodeProto> nodes;
  std::vector<std::string> outputs;
};

/// The nodes of a graph whose inputs are `inputs`. Initializers are Constant
/// nodes. Other names begin with `prefix`.
InlinedGraph inlineGraph(const onnx::GraphProto &graph,
                         llvm::ArrayRef<std::string> inputs,
                         llvm::StringRef prefix);

/// The nodes of a branch of `node`, an If; Identity nodes give its results the
/// names of those of `node`.
std::vector<onnx::NodeProto> inlineBranch(const onnx::NodeProto &node,
                                          const onnx::GraphProto &branch,
                                          llvm::StringRef prefix);

/// Calls with every name that graphs among the attributes of a node, such as
/// the branches of an If, take from the graph around it.
void forEachCapture(const onnx::NodeProto &node,
                    llvm::function_ref<void(const std::string &)> callback);
/// The same, and with its inputs: all that it reads.
void forEachRead(const onnx::NodeProto &node,
                 llvm::function_ref<void(const std::string &)> callback);

/// The values that an output depends on.
llvm::StringSet<> findLive(const onnx::GraphProto &graph);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_FILE_INLINENODES_H
