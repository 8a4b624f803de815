//===- SplitSharedNorms.h - batch norms with own tensors --------*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_SIMPLIFIERS_SPLITSHAREDNORMS_H
#define DTC_FRONTEND_EXPORTERS_SIMPLIFIERS_SPLITSHAREDNORMS_H

#include <onnx/onnx_pb.h>

namespace dtc::frontend {

/// Tools that simplify models store equal tensors once: in a new model the ones
/// that are the scale of a batch norm, its variance, and those of the next one.
/// A norm whose running statistics something else reads in another role gets
/// names of its own for its tensors, by Identity nodes, as PyTorch's exporter
/// writes what it merges. Norms that share all four tensors are one module, and
/// calls of one path that share their statistics.
void splitSharedNorms(onnx::GraphProto &graph);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_SIMPLIFIERS_SPLITSHAREDNORMS_H
