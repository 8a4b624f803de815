//===- FreezeSecondBias.h - recurrent layers with one bias ---- -*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_TF2ONNX_FREEZESECONDBIAS_H
#define DTC_FRONTEND_EXPORTERS_TF2ONNX_FREEZESECONDBIAS_H

#include "Support/TensorData.h"

namespace dtc::frontend {

/// A recurrent layer of ONNX adds two biases. One of Keras has one bias, and
/// tf2onnx writes zeros for the second. If both were trained, their sum would
/// move twice as far. So this rewrite keeps the second at zero:
///
///   LSTM(x, W, R, B)   ->   %first = Slice(B); %b = Pad(%first);
///                           LSTM(x, W, R, %b)
///
/// Only for files of tf2onnx: layers of PyTorch have both biases.
void freezeSecondBias(onnx::GraphProto &graph, TensorReader &reader);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_TF2ONNX_FREEZESECONDBIAS_H
