//===- FunctionCalls.h - size of local functions ----------------*- C++ -*-===//

#ifndef DTC_FRONTEND_FILE_FUNCTIONCALLS_H
#define DTC_FRONTEND_FILE_FUNCTIONCALLS_H

#include "llvm/Support/Error.h"

#include <onnx/onnx_pb.h>

#include <map>

namespace dtc::frontend {

/// The local functions of a model, by domain and name.
using FunctionTable =
    std::map<std::pair<std::string, std::string>, const onnx::FunctionProto *>;

/// Errors if a function calls itself, directly or not, or if the graph would
/// have too many nodes after all calls are inlined.
llvm::Error verifyFunctionCalls(const onnx::GraphProto &graph,
                                const FunctionTable &functions);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_FILE_FUNCTIONCALLS_H
