//===- Ops.td - all ops of the dialect ---------------------*- tablegen -*-===//

#ifndef DTC_DIALECT_OPS_TD
#define DTC_DIALECT_OPS_TD

include "dtc/Dialect/TensorOps.td"
include "dtc/Dialect/AttentionOps.td"
include "dtc/Dialect/ExpertOps.td"
include "dtc/Dialect/ConvolutionOps.td"
include "dtc/Dialect/RandomOps.td"
include "dtc/Dialect/TrainingOps.td"
include "dtc/Dialect/CollectiveOps.td"
include "dtc/Dialect/CompressionOps.td"
include "dtc/Dialect/PlanOps.td"

#endif // DTC_DIALECT_OPS_TD
