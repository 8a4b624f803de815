//===- Ops.cpp - what TableGen defines of the ops -------------------------===//

#include "dtc/Dialect/Dialect.h"

using namespace mlir;
using namespace dtc;

#define GET_OP_CLASSES
#include "dtc/Dialect/Ops.cpp.inc"
