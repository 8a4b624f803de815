//===- RemoveSampleSorts.h - sorted samples, put back -----------*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_TORCHSCRIPT_REMOVESAMPLESORTS_H
#define DTC_FRONTEND_EXPORTERS_TORCHSCRIPT_REMOVESAMPLESORTS_H

#include "Support/TensorData.h"

namespace dtc::frontend {

/// PyTorch's packed sequences are sorted by length, and put back after the
/// recurrent layers, which a sample's place means nothing to. A rank or a
/// micro-batch has some of the samples and could not sort them:
///
///   %n, %i = TopK(lengths); %s = Gather(x, %i); %y = LSTM(%s, ..., %n);
///   %back = ScatterElements(0, %i, Range); %z = Gather(%y, %back)
///     ->   %y = LSTM(x, ..., lengths); %z = Identity(%y)
///
/// Only where all that is made of sorted samples keeps them apart and is put
/// back.
void removeSampleSorts(onnx::GraphProto &graph, TensorReader &reader);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_TORCHSCRIPT_REMOVESAMPLESORTS_H
