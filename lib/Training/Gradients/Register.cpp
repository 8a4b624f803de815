//===- Register.cpp - attaches all gradient rules -------------------------===//

#include "Vjp.h"

#include "dtc/Training/DifferentiableInterface.cpp.inc"

using namespace mlir;

void dtc::registerGradients(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DTCDialect *) {
    attachAttentionGradients(*context);
    attachBoundaryGradients(*context);
    attachConvolutionGradients(*context);
    attachElementwiseGradients(*context);
    attachExpertGradients(*context);
    attachIndexingGradients(*context);
    attachLossGradients(*context);
    attachMatMulGradients(*context);
    attachNormalizationGradients(*context);
    attachReductionGradients(*context);
    attachShapeGradients(*context);
  });
}
