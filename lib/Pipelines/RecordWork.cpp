//===- RecordWork.cpp - write down what launches and library calls cost ---===//

#include "dtc/Report/RecordWork.h"
#include "dtc/Pipelines/Passes.h"

namespace dtc {
#define GEN_PASS_DEF_RECORDWORK
#include "dtc/Pipelines/Passes.h.inc"
} // namespace dtc

namespace {

struct RecordWorkPass : dtc::impl::RecordWorkBase<RecordWorkPass> {
  void runOnOperation() override { dtc::recordWork(getOperation()); }
};

} // namespace
