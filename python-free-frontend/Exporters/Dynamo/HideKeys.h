//===- HideKeys.h - what a boolean mask of attention hides ------*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_HIDEKEYS_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_HIDEKEYS_H

#include "Exporters/Dynamo/FxGraph.h"
#include "Support/TensorData.h"

namespace dtc::frontend {

/// PyTorch's exporter writes the boolean mask of `scaled_dot_product_attention`
/// as the lowest number of its type. A query that may see no key has a result
/// of 0 in PyTorch, but such scores, equal all, would give it the mean. The
/// number becomes -inf, which the exporter's `IsNaN` turns into 0; without
/// that, as older exporters write it, nothing changes.
///
///   Where(mask, 0, -3.4e38)   ->   Where(mask, 0, -inf)
///
/// A mask that the model itself made of such numbers is not this call's.
void hideKeys(FxGraph &graph, TensorReader &reader);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_HIDEKEYS_H
