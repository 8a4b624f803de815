//===- LostTraining.h - what an export for inference loses ------*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_LOSTTRAINING_H
#define DTC_FRONTEND_EXPORTERS_LOSTTRAINING_H

#include "Exporters/Model.h"
#include "dtc/Frontend/Import.h"

namespace dtc::frontend {

/// Warnings of what a file trains otherwise than the model does: batch norms in
/// evaluation mode or merged with convolutions, where no metadata tell, biases
/// that tf2onnx leaves out, alpha dropout, and buffers that forward changes.
/// Each says what to do instead.
std::vector<std::string> findLostTraining(const Model &model,
                                          const ImportOptions &options);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_LOSTTRAINING_H
