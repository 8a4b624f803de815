//===- RemoveSampleSorts.h - sorted samples of packed sequences -*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_TORCHSCRIPT_REMOVESAMPLESORTS_H
#define DTC_FRONTEND_EXPORTERS_TORCHSCRIPT_REMOVESAMPLESORTS_H

#include "Support/TensorData.h"

namespace dtc::frontend {

/// PyTorch sorts the samples of packed sequences by length, and restores their
/// order after the recurrent layers. The layers do not depend on the order of
/// samples. A rank or a micro-batch has only some of the samples, so it could
/// not sort them. This rewrite removes the sort:
///
///   %n, %i = TopK(lengths); %s = Gather(x, %i); %y = LSTM(%s, ..., %n);
///   %back = ScatterElements(0, %i, Range); %z = Gather(%y, %back)
///     ->   %y = LSTM(x, ..., lengths); %z = Identity(%y)
///
/// It applies only if all computations on sorted samples keep them apart, and
/// all results are put back in order.
void removeSampleSorts(onnx::GraphProto &graph, TensorReader &reader);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_TORCHSCRIPT_REMOVESAMPLESORTS_H
