//===- LibraryCall.h - builders of library calls ----------------*- C++ -*-===//
//
// Each op has a function buildCall, which the file of its family defines.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_LOWERING_LIBRARYCALLS_LIBRARYCALL_H
#define DTC_LIB_LOWERING_LIBRARYCALLS_LIBRARYCALL_H

#include "Plan/FunctionLowering.h"
#include "dtc/Lowering/LibraryCall.h"

namespace dtc {

void buildCall(MatMulOp op, FunctionLowering &f);
void buildCall(MatMulEpilogueOp op, FunctionLowering &f);
void buildCall(MatMulBiasGradOp op, FunctionLowering &f);
void buildCall(GroupedMatMulOp op, FunctionLowering &f);
void buildCall(GroupedOuterOp op, FunctionLowering &f);
void buildCall(ExpertMatMulOp op, FunctionLowering &f);
void buildCall(ExpertOuterOp op, FunctionLowering &f);
void buildCall(DispatchOp op, FunctionLowering &f);
void buildCall(CombineOp op, FunctionLowering &f);
void buildCall(CountRowsOp op, FunctionLowering &f);
void buildCall(AttentionOp op, FunctionLowering &f);
void buildCall(AttentionGradOp op, FunctionLowering &f);
void buildCall(PackedAttentionOp op, FunctionLowering &f);
void buildCall(PackedAttentionGradOp op, FunctionLowering &f);
void buildCall(Conv2DOp op, FunctionLowering &f);
void buildCall(Conv2DInputGradOp op, FunctionLowering &f);
void buildCall(Conv2DFilterGradOp op, FunctionLowering &f);
void buildCall(MaxPool2DOp op, FunctionLowering &f);
void buildCall(MaxPool2DGradOp op, FunctionLowering &f);
void buildCall(SumPool2DOp op, FunctionLowering &f);
void buildCall(SumPool2DGradOp op, FunctionLowering &f);
void buildCall(TopKOp op, FunctionLowering &f);
void buildCall(OrthonormalizeOp op, FunctionLowering &f);

} // namespace dtc

#endif // DTC_LIB_LOWERING_LIBRARYCALLS_LIBRARYCALL_H
