//===- RestoreRecurrent.h - weights of recurrent layers ---------*- C++ -*-===//
//
// ONNX has one operand for the weights of all gates and directions, and its own
// order of gates; the exporters compute it from PyTorch's parameters:
//
//   LSTM(x, val_41, val_42, val_64)     %lstm = lstm(%x, [%zeros, %zeros_1],
//       [%p_rnn_weight_ih_l0, %p_rnn_weight_hh_l0, %p_rnn_bias_ih_l0, ...])
//
// The parameters are there again, and the graph computes the operands from
// them: gates are put in order, and directions and biases joined.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_RESTORERECURRENT_H
#define DTC_FRONTEND_RESTORERECURRENT_H

#include "FxGraph.h"
#include "RestoreParameters.h"

namespace dtc::frontend {

/// Restores nodes whose metadata name a parameter for all of their weights.
/// Others stay as they are.
void restoreRecurrent(FxGraph &graph, TensorReader &reader,
                      RestoredTensors &result);

/// Does it for files of the TorchScript exporter, which have no metadata: nodes
/// are named after modules, '/rnn/LSTM_1', and parameters as PyTorch names
/// those of a module, 'rnn.weight_ih_l1'.
void nameRecurrent(onnx::GraphProto &graph, TensorReader &reader,
                   RestoredTensors &result);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_RESTORERECURRENT_H
