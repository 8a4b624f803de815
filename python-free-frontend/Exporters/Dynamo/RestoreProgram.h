//===- RestoreProgram.h - the graph as its author wrote it ------*- C++ -*-===//
//
// The optimizer of PyTorch's dynamo exporter merges equal tensors and calls,
// transposes weights, leaves out zero biases and computes what depends on
// parameters alone. Where the exporter's metadata tell what each operand was,
// the graph gets the tensors of the model's state dict back, under their names.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_RESTOREPROGRAM_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_RESTOREPROGRAM_H

#include "Exporters/Dynamo/RecordedTensors.h"
#include "Exporters/RestoredTensors.h"
#include "Support/TensorData.h"

namespace dtc::frontend {

RestoredTensors restoreProgram(onnx::GraphProto &graph,
                               const RecordedTensors &tensors,
                               TensorReader &reader);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_RESTOREPROGRAM_H
