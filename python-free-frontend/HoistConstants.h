//===- HoistConstants.h - weights in nodes and inner graphs -----*- C++ -*-===//

#ifndef DTC_FRONTEND_HOISTCONSTANTS_H
#define DTC_FRONTEND_HOISTCONSTANTS_H

#include <onnx/onnx_pb.h>

namespace dtc::frontend {

/// Some exporters (Paddle's) write weights as Constant nodes. In a file without
/// a float initializer, the float tensors there that a person named become
/// initializers.
void hoistConstants(onnx::GraphProto &graph);

/// Makes the initializers of inner graphs those of the graph itself, where no
/// name is taken: weights in the body of a loop are parameters, too.
void hoistInitializers(onnx::GraphProto &graph);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_HOISTCONSTANTS_H
