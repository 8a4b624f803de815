//===- SeparateCalls.h - calls with parameters of their own -----*- C++ -*-===//
//
// Two modules that begin with equal parameters and see the same input compute
// the same, and the exporter's optimizer keeps one of them: of GPT-NeoX's two
// norms of one residual stream, say, or of a network and its frozen copy. A
// call that names a result which is gone shows the other:
//
//   %linear = linear(%x, %p_net_0_weight); %relu = relu(%linear)
//   %linear_4 = linear(%relu_1, ...)                       // reads relu
//
// What the result is computed of is there again, as 'relu_1', with the
// parameters of a module that has no nodes and is the nearest by name
// (CallCopies): relu_1 = relu(linear_1), linear_1 = linear(x, old.0.weight).
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_SEPARATECALLS_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_SEPARATECALLS_H

#include "Exporters/Dynamo/Provenance.h"
#include "Exporters/RestoredTensors.h"

namespace dtc::frontend {

void separateCalls(onnx::GraphProto &graph, const Provenance &provenance,
                   RestoredTensors &result);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_SEPARATECALLS_H
