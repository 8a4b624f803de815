//===- RestoreParameters.h - the model's own tensors again ------*- C++ -*-===//
//
// An exporter's optimizer merges equal tensors, transposes weights, leaves out
// zero biases and looks up constant indices. Where its metadata tell what each
// operand was, the graph gets the tensors of the model's state dict back, under
// their names, with a node where a tensor has to be transposed or reshaped.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_RESTOREPARAMETERS_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_RESTOREPARAMETERS_H

#include "Exporters/Dynamo/Provenance.h"
#include "Exporters/RestoredTensors.h"
#include "Support/TensorData.h"

namespace dtc::frontend {

RestoredTensors restoreParameters(onnx::GraphProto &graph,
                                  const Provenance &provenance,
                                  TensorReader &reader);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_RESTOREPARAMETERS_H
