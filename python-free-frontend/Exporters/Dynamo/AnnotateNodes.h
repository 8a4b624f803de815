//===- AnnotateNodes.h - arguments that only calls have ------- -*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_ANNOTATENODES_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_ANNOTATENODES_H

#include <onnx/onnx_pb.h>

namespace dtc::frontend {

/// Gives nodes, also those of inner graphs, the attributes of Annotations.h
/// that their recorded calls tell:
///
///   Gather(w, i)     %embedding = embedding(%w, %i, 0)
///   ->  Gather(w, i) {dtc.padding_idx = 0}
void annotateNodes(onnx::GraphProto &graph);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_ANNOTATENODES_H
