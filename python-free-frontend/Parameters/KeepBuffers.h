//===- KeepBuffers.h - tensors that are saved as they are -------*- C++ -*-===//

#ifndef DTC_FRONTEND_PARAMETERS_KEEPBUFFERS_H
#define DTC_FRONTEND_PARAMETERS_KEEPBUFFERS_H

#include "Parameters/Parameters.h"

namespace dtc::frontend {

/// Adds the tensors of the state dict that are no parameters to the table of
/// the report: programs save them with the weights.
void keepBuffers(const Model &model,
                 const llvm::StringMap<TensorData> &initializers,
                 const Parameters &parameters, ImportReport &report);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_PARAMETERS_KEEPBUFFERS_H
