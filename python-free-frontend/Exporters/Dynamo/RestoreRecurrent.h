//===- RestoreRecurrent.h - recurrent weights, by calls ------- -*- C++ -*-===//
//
//   LSTM(x, val_41, val_42, val_64)     %lstm = lstm(%x, [%zeros, %zeros_1],
//       [%p_rnn_weight_ih_l0, %p_rnn_weight_hh_l0, %p_rnn_bias_ih_l0, ...])
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_RESTORERECURRENT_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_RESTORERECURRENT_H

#include "Exporters/Dynamo/FxGraph.h"
#include "Exporters/RestoredTensors.h"
#include "Support/TensorData.h"

namespace dtc::frontend {

/// Restores nodes whose metadata name a parameter for all of their weights.
/// Others stay as they are.
void restoreRecurrent(FxGraph &graph, TensorReader &reader,
                      RestoredTensors &result);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_RESTORERECURRENT_H
