//===- SplitSharedNorms.h - separate tensors for batch norms ----*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_SIMPLIFIERS_SPLITSHAREDNORMS_H
#define DTC_FRONTEND_EXPORTERS_SIMPLIFIERS_SPLITSHAREDNORMS_H

#include <onnx/onnx_pb.h>

namespace dtc::frontend {

/// Tools that simplify models store equal tensors once: in a new model the ones
/// of a batch norm's scale, of its variance and of the next norm are one
/// tensor. If another node reads the running statistics of a norm in another
/// role, the norm gets its own names for its tensors. Identity nodes define
/// them, as PyTorch's exporter does for merged tensors. Norms that share all
/// four tensors are one module, and so are calls of one path that share their
/// statistics.
void splitSharedNorms(onnx::GraphProto &graph);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_SIMPLIFIERS_SPLITSHAREDNORMS_H
