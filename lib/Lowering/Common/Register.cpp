//===- Register.cpp - attaches all lowerings to linalg --------------------===//

#include "StructuredBuilder.h"

#include "dtc/Lowering/LinalgLowering.cpp.inc"

using namespace mlir;
using namespace dtc;

void dtc::registerLinalgLoweringModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DTCDialect *) {
    registerElementwiseLowerings(context);
    registerIndexingLowerings(context);
    registerLossLowerings(context);
    registerNormalizationLowerings(context);
    registerPoolingLowerings(context);
    registerRandomLowerings(context);
    registerReductionLowerings(context);
    registerShapeLowerings(context);
    registerUpdateLowerings(context);
  });
}
