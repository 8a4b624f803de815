//===- FunctionCalls.h - what calls of local functions add up to *- C++ -*-===//

#ifndef DTC_FRONTEND_FILE_FUNCTIONCALLS_H
#define DTC_FRONTEND_FILE_FUNCTIONCALLS_H

#include "llvm/Support/Error.h"

#include <onnx/onnx_pb.h>

#include <map>

namespace dtc::frontend {

/// The local functions of a model, by domain and name.
using FunctionTable =
    std::map<std::pair<std::string, std::string>, const onnx::FunctionProto *>;

/// An error if a function that the graph calls calls itself, or if the graph
/// would have too many nodes with those of all calls in it.
llvm::Error verifyFunctionCalls(const onnx::GraphProto &graph,
                                const FunctionTable &functions);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_FILE_FUNCTIONCALLS_H
