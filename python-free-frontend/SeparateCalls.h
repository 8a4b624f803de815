//===- SeparateCalls.h - calls with parameters of their own -----*- C++ -*-===//
//
// Two modules that begin with equal parameters and see the same input compute
// the same, and the exporter's optimizer keeps one of them: of GPT-NeoX's two
// norms of one residual stream, say. A call that names a result which is gone
// shows the other:
//
//   %layer_norm = layer_norm(%x, ..., %p_input_norm_weight)
//   %linear     = linear(%layer_norm_1, ...)   // reads layer_norm
//
// Its node is there again, as 'layer_norm_1', with the parameters of a module
// that has no nodes, the nearest by name ('post_norm').
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_SEPARATECALLS_H
#define DTC_FRONTEND_SEPARATECALLS_H

#include "RestoreParameters.h"

namespace dtc::frontend {

void separateCalls(onnx::GraphProto &graph, const Provenance &provenance,
                   RestoredTensors &result);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SEPARATECALLS_H
