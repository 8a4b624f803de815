//===- KeepOneBias.h - recurrent layers with one bias -----------*- C++ -*-===//

#ifndef DTC_FRONTEND_KEEPONEBIAS_H
#define DTC_FRONTEND_KEEPONEBIAS_H

#include "TensorData.h"

namespace dtc::frontend {

/// A recurrent layer of ONNX has two biases, which are added; one of Keras or
/// Flax has one, and what exports it leaves the second at zero. Trained with
/// the first, it would move their sum twice as far. So the second stay zeros:
///
///   LSTM(x, W, R, B)   ->   %first = Slice(B); %b = Pad(%first);
///                           LSTM(x, W, R, %b)
///
/// Not for files of PyTorch, whose layers have both.
void keepOneBias(onnx::GraphProto &graph, TensorReader &reader);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_KEEPONEBIAS_H
