//===- NameRecurrent.h - recurrent weights, by module --------- -*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_TORCHSCRIPT_NAMERECURRENT_H
#define DTC_FRONTEND_EXPORTERS_TORCHSCRIPT_NAMERECURRENT_H

#include "Exporters/RestoredTensors.h"
#include "Support/TensorData.h"

namespace dtc::frontend {

/// Gives recurrent layers the parameters of their modules. Nodes are named
/// after modules, '/rnn/LSTM_1', and parameters as PyTorch names those of a
/// module, 'rnn.weight_ih_l1'.
void nameRecurrent(onnx::GraphProto &graph, TensorReader &reader,
                   RestoredTensors &result);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_TORCHSCRIPT_NAMERECURRENT_H
