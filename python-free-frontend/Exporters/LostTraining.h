//===- LostTraining.h - training details that exports lose ------*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_LOSTTRAINING_H
#define DTC_FRONTEND_EXPORTERS_LOSTTRAINING_H

#include "Exporters/Model.h"
#include "dtc/Frontend/Import.h"

namespace dtc::frontend {

/// Warns of parts of a file that train differently from the model: batch norms
/// in evaluation mode, or merged into convolutions (files without metadata),
/// biases that tf2onnx leaves out, alpha dropout, and buffers that forward
/// changes. Each warning says what to do instead.
std::vector<std::string> findLostTraining(const Model &model,
                                          const ImportOptions &options);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_LOSTTRAINING_H
