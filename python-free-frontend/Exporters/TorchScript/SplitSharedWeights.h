//===- SplitSharedWeights.h - weights for each module -----------*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_TORCHSCRIPT_SPLITSHAREDWEIGHTS_H
#define DTC_FRONTEND_EXPORTERS_TORCHSCRIPT_SPLITSHAREDWEIGHTS_H

#include <onnx/onnx_pb.h>

namespace dtc::frontend {

/// PyTorch's TorchScript exporter transposes the weights of linear layers, and
/// stores equal results once, such as those of layers that start as copies of
/// one another. If nodes of several modules multiply by a weight with an
/// invented name, each module gets its own initializer.
void splitSharedWeights(onnx::GraphProto &graph);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_TORCHSCRIPT_SPLITSHAREDWEIGHTS_H
