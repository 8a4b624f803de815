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

/// Resolves the shapes of all graph inputs. An input whose shape stays unknown
/// adds to `issues`, and is missing in the result.
llvm::StringMap<Shape> resolveInputShapes(const onnx::GraphProto &graph,
                                          const ImportOptions &options,
                                          std::vector<ImportIssue> &issues);

/// Index of the batch dimension of an input: that of `--batch-dim`, else a
/// dimension that is named as a batch, else 0.
int64_t findBatchDim(const onnx::ValueInfoProto &input,
                     const ImportOptions &options);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SHAPES_INPUTSHAPES_H
