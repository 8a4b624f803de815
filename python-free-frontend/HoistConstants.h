//===- HoistConstants.h - weights in Constant nodes -------------*- C++ -*-===//

#ifndef DTC_FRONTEND_HOISTCONSTANTS_H
#define DTC_FRONTEND_HOISTCONSTANTS_H

#include <onnx/onnx_pb.h>

namespace dtc::frontend {

/// Some exporters (Paddle's) write weights as Constant nodes. In a file without
/// a float initializer, the float tensors there that a person named become
/// initializers.
void hoistConstants(onnx::GraphProto &graph);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_HOISTCONSTANTS_H
