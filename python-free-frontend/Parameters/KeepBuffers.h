//===- KeepBuffers.h - buffers to save with the weights ---------*- C++ -*-===//

#ifndef DTC_FRONTEND_PARAMETERS_KEEPBUFFERS_H
#define DTC_FRONTEND_PARAMETERS_KEEPBUFFERS_H

#include "Parameters/Parameters.h"

namespace dtc::frontend {

/// Adds the buffers of the state dict to the report's table, so that programs
/// save them with the weights.
void keepBuffers(const Model &model,
                 const llvm::StringMap<TensorData> &initializers,
                 const Parameters &parameters, ImportReport &report);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_PARAMETERS_KEEPBUFFERS_H
