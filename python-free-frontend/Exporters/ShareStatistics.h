//===- ShareStatistics.h - batch norms that are used again ------*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_SHARESTATISTICS_H
#define DTC_FRONTEND_EXPORTERS_SHARESTATISTICS_H

#include <onnx/onnx_pb.h>

namespace dtc::frontend {

/// A batch norm that is used again, with the same weights, reads running
/// statistics that its use before has updated:
///
///   %y1, %mean1, %var1 = BatchNormalization(%x1, %w, %b, %mean, %var)
///   %y2                = BatchNormalization(%x2, %w, %b, %mean1, %var1)
///
/// Each use gets the tensors themselves, which dtc updates in order. Where
/// there is a record of what was exported, copies by Identity are such
/// statistics, too; elsewhere they are other tensors that were equal.
void shareStatistics(onnx::GraphProto &graph, bool hasRecord);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_SHARESTATISTICS_H
