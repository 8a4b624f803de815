//===- HoistWeights.h - weights that are Constant nodes ------- -*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_PADDLE_HOISTWEIGHTS_H
#define DTC_FRONTEND_EXPORTERS_PADDLE_HOISTWEIGHTS_H

#include <onnx/onnx_pb.h>

namespace dtc::frontend {

/// Turns weights into initializers. Paddle's exporter writes them as Constant
/// nodes. If a file has no float initializer, the float tensors of such nodes
/// become initializers, unless an exporter invented their names.
void hoistWeights(onnx::GraphProto &graph);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_PADDLE_HOISTWEIGHTS_H
