//===- HoistInitializers.h - tensors of inner graphs ---------- -*- C++ -*-===//

#ifndef DTC_FRONTEND_FILE_HOISTINITIALIZERS_H
#define DTC_FRONTEND_FILE_HOISTINITIALIZERS_H

#include <onnx/onnx_pb.h>

namespace dtc::frontend {

/// Makes the initializers of inner graphs those of the graph itself, where no
/// name is taken: weights in the body of a loop are parameters, too.
void hoistInitializers(onnx::GraphProto &graph);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_FILE_HOISTINITIALIZERS_H
