//===- Register.cpp - register all expansions -----------------------------===//

#include "Expansion.h"

#include "dtc/Propagation/SplitExpansion.cpp.inc"

using namespace mlir;
using namespace dtc;

void dtc::registerSplitExpansions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DTCDialect *) {
    registerAttentionExpansions(context);
    registerCrossEntropyExpansions(context);
    registerLookupExpansions(context);
  });
}
