//===- FreezeSecondBias.h - recurrent layers with one bias ---- -*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_TF2ONNX_FREEZESECONDBIAS_H
#define DTC_FRONTEND_EXPORTERS_TF2ONNX_FREEZESECONDBIAS_H

#include "Support/TensorData.h"

namespace dtc::frontend {

/// A recurrent layer of ONNX has two biases, which are added; one of Keras has
/// one, and tf2onnx leaves the second at zero. Trained with the first, it would
/// move their sum twice as far. So the second stays zero:
///
///   LSTM(x, W, R, B)   ->   %first = Slice(B); %b = Pad(%first);
///                           LSTM(x, W, R, %b)
///
/// For files of tf2onnx: layers of PyTorch have both.
void freezeSecondBias(onnx::GraphProto &graph, TensorReader &reader);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_TF2ONNX_FREEZESECONDBIAS_H
