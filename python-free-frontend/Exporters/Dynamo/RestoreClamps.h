//===- RestoreClamps.h - bounds that are numbers ----------------*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_RESTORECLAMPS_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_RESTORECLAMPS_H

#include "Exporters/Dynamo/FxGraph.h"

namespace dtc::frontend {

/// PyTorch's exporter makes a tensor of a bound that is an integer, and a Max
/// or Min of `clamp` with one bound. Where x is the bound, Max shares its
/// gradient among both; a number takes none, and x gets none there.
///
///   Max(x, 0)   ->   Clip(x, 0)        %y = clamp(%x, %scalar_tensor_default)
void restoreClamps(FxGraph &graph);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_RESTORECLAMPS_H
