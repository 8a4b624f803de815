//===- InlineNodes.h - nodes of functions and branches ----------*- C++ -*-===//
//
// Local functions and the branch that an If takes become nodes of the graph
// itself, with names of their own.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_INLINENODES_H
#define DTC_FRONTEND_INLINENODES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <onnx/onnx_pb.h>

#include <vector>

namespace dtc::frontend {

/// Replaces each call of a function of the model by the function's nodes.
llvm::Error inlineFunctions(onnx::ModelProto &model);

/// The nodes of a branch of `node`, an If; its initializers are Constant nodes,
/// and Identity nodes give its results the names of those of `node`.
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

} // namespace dtc::frontend

#endif // DTC_FRONTEND_INLINENODES_H
