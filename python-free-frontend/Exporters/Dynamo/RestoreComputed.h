//===- RestoreComputed.h - parameters that were computed with ---*- C++ -*-===//
//
// The exporter's optimizer computes calls whose operands are all known, and
// keeps their result as an initializer: of '1.0 + self.weight' the sum. Where
// metadata and the elements tell what was computed, the parameter is there
// again and the graph computes it; else the result is trained in its place, and
// a warning says so.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_RESTORECOMPUTED_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_RESTORECOMPUTED_H

#include "Exporters/Dynamo/FxGraph.h"
#include "Exporters/RestoredTensors.h"
#include "Support/TensorData.h"

namespace dtc::frontend {

/// Expects that the graph's operands have the names of parameters.
void restoreComputed(FxGraph &graph, TensorReader &reader,
                     RestoredTensors &result);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_RESTORECOMPUTED_H
