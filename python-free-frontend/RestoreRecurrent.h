//===- RestoreRecurrent.h - weights of recurrent layers ---------*- C++ -*-===//
//
// ONNX has one operand for the weights of all gates and directions, and its own
// order of gates; the exporter computes it of PyTorch's parameters:
//
//   LSTM(x, val_41, val_42, val_64)     %lstm = lstm(%x, [%zeros, %zeros_1],
//       [%p_rnn_weight_ih_l0, %p_rnn_weight_hh_l0, %p_rnn_bias_ih_l0, ...])
//
// The parameters are there again, and the graph computes the operands of them:
// rows of the gates are looked up, and directions and biases joined.
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

} // namespace dtc::frontend

#endif // DTC_FRONTEND_RESTORERECURRENT_H
