//===- HoistInitializers.h - initializers of inner graphs -------*- C++ -*-===//

#ifndef DTC_FRONTEND_FILE_HOISTINITIALIZERS_H
#define DTC_FRONTEND_FILE_HOISTINITIALIZERS_H

#include <onnx/onnx_pb.h>

namespace dtc::frontend {

/// Moves the initializers of inner graphs to the outer graph, unless their name
/// is taken there. So weights in the body of a loop become parameters, too.
void hoistInitializers(onnx::GraphProto &graph);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_FILE_HOISTINITIALIZERS_H
