//===- InputShapes.h - static shapes of graph inputs ------------*- C++ -*-===//
//
// Gives every dynamic dimension the size that the user states.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_INPUTSHAPES_H
#define DTC_FRONTEND_INPUTSHAPES_H

#include "HostTensor.h"
#include "Model.h"

#include "dtc/Frontend/Import.h"

namespace dtc::frontend {

/// The shapes of all inputs that could be resolved; for others `issues` grows.
llvm::StringMap<Shape> resolveInputShapes(const Model &model,
                                          const ImportOptions &options,
                                          std::vector<ImportIssue> &issues);

/// Which dimension of an input is the batch, as options or names say; else 0.
int64_t findBatchDim(const onnx::ValueInfoProto &input,
                     const ImportOptions &options);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_INPUTSHAPES_H
