//===- NameRecurrent.h - parameters of recurrent layers ---------*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_TORCHSCRIPT_NAMERECURRENT_H
#define DTC_FRONTEND_EXPORTERS_TORCHSCRIPT_NAMERECURRENT_H

#include "Exporters/RestoredTensors.h"
#include "Support/TensorData.h"

namespace dtc::frontend {

/// Restores the parameters of recurrent layers. The name of a node tells the
/// module, '/rnn/LSTM_1'. Parameters get PyTorch's names in that module,
/// 'rnn.weight_ih_l1'.
void nameRecurrent(onnx::GraphProto &graph, TensorReader &reader,
                   RestoredTensors &result);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_TORCHSCRIPT_NAMERECURRENT_H
