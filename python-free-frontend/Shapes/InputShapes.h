//===- InputShapes.h - static shapes of graph inputs ------------*- C++ -*-===//
//
// Gives every dynamic dimension the size that the user states.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_SHAPES_INPUTSHAPES_H
#define DTC_FRONTEND_SHAPES_INPUTSHAPES_H

#include "Support/HostTensor.h"

#include "dtc/Frontend/Import.h"

#include "llvm/ADT/StringMap.h"

#include <onnx/onnx_pb.h>

namespace dtc::frontend {

/// The shapes of all inputs that could be resolved; for others `issues` grows.
llvm::StringMap<Shape> resolveInputShapes(const onnx::GraphProto &graph,
                                          const ImportOptions &options,
                                          std::vector<ImportIssue> &issues);

/// Which dimension of an input is the batch, as options or names say; else 0.
int64_t findBatchDim(const onnx::ValueInfoProto &input,
                     const ImportOptions &options);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SHAPES_INPUTSHAPES_H
