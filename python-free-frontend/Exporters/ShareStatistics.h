//===- ShareStatistics.h - batch norms with several uses --------*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_SHARESTATISTICS_H
#define DTC_FRONTEND_EXPORTERS_SHARESTATISTICS_H

#include <onnx/onnx_pb.h>

namespace dtc::frontend {

/// If a model uses a batch norm several times with the same weights, exporters
/// write that each use reads the running statistics that the use before it has
/// updated:
///
///   %y1, %mean1, %var1 = BatchNormalization(%x1, %w, %b, %mean, %var)
///   %y2                = BatchNormalization(%x2, %w, %b, %mean1, %var1)
///
/// This rewrite gives each use the initializers themselves, which dtc updates
/// in order. `hasRecord`: copies by Identity are also such statistics. Without
/// a record they are other tensors that were equal.
void shareStatistics(onnx::GraphProto &graph, bool hasRecord);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_SHARESTATISTICS_H
