//===- MatMul.cpp - calls of matrix multiplications -----------------------===//
//
// Calls of plain matmuls, of matmuls with an epilogue, and of matmuls that sum
// the rows of an operand.
//
//===----------------------------------------------------------------------===//

#include "LibraryCall.h"
#include "dtc/Lowering/Passes.h"
#include "dtc/Runtime/DeviceABI.h"

using namespace mlir;
using namespace dtc;

void dtc::buildCall(MatMulOp op, FunctionLowering &f) {
  auto [destination, flags] = f.getDestination(op->getResult(0));
  RankedTensorType lhs = getLocalType(op.getLhs().getType());
  RankedTensorType result = getLocalType(op.getResult().getType());
  int64_t rank = result.getRank();
  int64_t batch = 1;
  for (int64_t size : result.getShape().drop_back(2))
    batch *= size;
  f.call("dtcrt_matmul",
         {f.getContext(), f.integer(getElementType(lhs).code),
          f.integer(op.getTransposeLhs()), f.integer(op.getTransposeRhs()),
          f.integer(flags), f.integer(batch, 64),
          f.integer(result.getDimSize(rank - 2), 64),
          f.integer(result.getDimSize(rank - 1), 64),
          f.integer(lhs.getDimSize(rank - (op.getTransposeLhs() ? 2 : 1)), 64),
          f.pointerTo(op.getLhs()), f.pointerTo(op.getRhs()),
          f.pointerTo(destination)});
}

static int32_t getCode(Epilogue epilogue) {
  switch (epilogue) {
  case Epilogue::bias:
    return DTC_EPILOGUE_BIAS;
  case Epilogue::relu:
    return DTC_EPILOGUE_RELU;
  case Epilogue::gelu:
    return DTC_EPILOGUE_GELU;
  case Epilogue::gelu_grad:
    return DTC_EPILOGUE_GELU_GRAD;
  case Epilogue::add:
    return DTC_EPILOGUE_ADD;
  }
  llvm_unreachable("all epilogues are listed");
}

/// `others` are other, bias, c and sum; null if absent.
template <typename Op>
static void callMatMulEpilogue(Op op, FunctionLowering &f, int32_t epilogue,
                               int32_t flags, ArrayRef<Value> others) {
  RankedTensorType lhs = getLocalType(op.getLhs().getType());
  RankedTensorType result = getLocalType(op.getResult().getType());
  SmallVector<Value> arguments = {
      f.getContext(),
      f.integer(getElementType(lhs).code),
      f.integer(op.getTransposeLhs()),
      f.integer(op.getTransposeRhs()),
      f.integer(epilogue),
      f.integer(flags),
      f.integer(result.getDimSize(0), 64),
      f.integer(result.getDimSize(1), 64),
      f.integer(lhs.getDimSize(op.getTransposeLhs() ? 0 : 1), 64),
      f.pointerTo(op.getLhs()),
      f.pointerTo(op.getRhs())};
  for (Value other : others)
    arguments.push_back(other ? f.pointerTo(other) : f.null());
  // The symbol refers to the module of kernels, whose functions move to this
  // module later.
  auto kernel =
      op->template getAttrOfType<SymbolRefAttr>(epilogueKernelAttrName);
  arguments.push_back(kernel ? f.pointerToSymbol(kernel.getLeafReference())
                             : f.null());
  f.call("dtcrt_matmul_epilogue", arguments);
}

void dtc::buildCall(MatMulEpilogueOp op, FunctionLowering &f) {
  callMatMulEpilogue(
      op, f, getCode(op.getEpilogue()), 0,
      {op.getOther(), op.getBias(), op.getResult(), op.getSum()});
}

void dtc::buildCall(MatMulBiasGradOp op, FunctionLowering &f) {
  auto [destination, flags] = f.getDestination(op->getResult(0));
  callMatMulEpilogue(op, f,
                     op.getOfLhs() ? DTC_EPILOGUE_SUM_A : DTC_EPILOGUE_SUM_B,
                     flags, {Value(), Value(), destination, op.getSums()});
}
