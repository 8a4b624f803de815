//===- LowerCollectives.cpp - lowering of communication -------------------===//
//
// Collectives and messages become calls of the runtime. An asynchronous one
// becomes a call that starts it and a call that waits for it. This file numbers
// the slots that connect the two calls.
//
//===----------------------------------------------------------------------===//

#include "FunctionLowering.h"

using namespace mlir;
using namespace dtc;

LogicalResult FunctionLowering::checkStart(Operation *op) {
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  if (!collective || !op->hasAttr(attr::async) || collective.isContiguous())
    return success();
  bool isOutput = collective.getOutputBlocks() != 1;
  return op->emitOpError("starts along dimension ")
         << *(isOutput ? collective.getOutputDim() : collective.getInputDim())
         << " of "
         << (isOutput ? op->getOperand(0) : op->getResult(0)).getType()
         << ", expected the first that is not 1";
}

static int64_t getElementBytes(Value value) {
  unsigned bits = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
  return llvm::divideCeil(bits, 8);
}

void FunctionLowering::callCommunication(
    const RuntimeFunction &function,
    llvm::function_ref<Value(CallArgument)> get, Operation *op) {
  SmallVector<Value> arguments;
  for (CallArgument argument : function.arguments)
    arguments.push_back(argument == CallArgument::Context ? context
                                                          : get(argument));
  LLVM::CallOp made = call(function.name, arguments);
  if (Attribute number = op->getAttr(attr::value))
    made->setAttr(attr::value, number);
}

void FunctionLowering::emit(CollectiveOpInterface op) {
  const CollectiveTraits &traits = op.getTraits();
  Value input = op->getOperand(0), output = op->getResult(0);
  // PlanMemory placed the operands of a bucket side by side.
  int64_t share = getBucketBytes(op->getOperands()) /
                  countShares(traits.input, op.getNumMembers());
  // Scratch for reordering blocks before sending and after receiving.
  int64_t scratchBytes = 0;
  if (op.getInputBlocks() > 1)
    scratchBytes += getLocalBytes(input.getType());
  if (op.getOutputBlocks() > 1)
    scratchBytes += getLocalBytes(output.getType());
  needScratch(scratchBytes);
  auto get = [&](CallArgument argument) -> Value {
    switch (argument) {
    case CallArgument::Group:
      return integer(shared.manifest.getGroup(op.getAxes()));
    case CallArgument::Permutation:
      return integer(shared.manifest.getPermutation(op.getSources()));
    case CallArgument::Slot:
      return integer(shared.slots.get(op));
    case CallArgument::Dtype:
      return integer(getElementType(input.getType()).code);
    case CallArgument::Reduction:
      return integer(static_cast<int64_t>(*op.getCombiner()));
    case CallArgument::Input:
    case CallArgument::InOut:
      return pointerTo(input);
    case CallArgument::Output:
      return pointerTo(output);
    case CallArgument::Scratch:
      return scratch;
    case CallArgument::InputBlocks:
      return integer(op.getInputBlocks(), 64);
    case CallArgument::OutputBlocks:
      return integer(op.getOutputBlocks(), 64);
    case CallArgument::Count:
      return integer(share / getElementBytes(input), 64);
    case CallArgument::Bytes:
      return integer(share, 64);
    default:
      llvm_unreachable("a collective has no such argument");
    }
  };
  callCommunication(
      getRuntimeFunction(op.getCollectiveKind(), op->hasAttr(attr::async)), get,
      op);
}

void FunctionLowering::emit(LocalSliceOp op) {
  ArrayRef<int64_t> part = getLocalType(op.getY().getType()).getShape();
  call("dtcrt_local_slice",
       {context, integer(shared.manifest.getGroup(op.getAxes())),
        pointerTo(op.getX()), pointerTo(op.getY()),
        integer(llvm::product_of(part.take_front(op.getDim())), 64),
        integer(llvm::product_of(part.drop_front(op.getDim())) *
                    getElementBytes(op.getX()),
                64)});
}

/// Calls the runtime for one end of a message, with the memory of `data` as its
/// `buffer` argument.
template <typename Op>
void FunctionLowering::emitMessage(EventKind kind, Op op, CallArgument buffer,
                                   Value data) {
  callCommunication(
      getRuntimeFunction(kind),
      [&](CallArgument argument) {
        if (argument == buffer)
          return pointerTo(data);
        switch (argument) {
        case CallArgument::Stage:
          return integer(op.getStage());
        case CallArgument::Tag:
          return integer(op.getTag());
        case CallArgument::Slot:
          return integer(shared.slots.get(op));
        case CallArgument::Bytes:
          return integer(getLocalBytes(data.getType()), 64);
        default:
          llvm_unreachable("a message has no such argument");
        }
      },
      op);
}

void FunctionLowering::emit(SendOp op) {
  emitMessage(EventKind::Send, op, CallArgument::Input, op.getX());
}

void FunctionLowering::emit(RecvOp op) {
  emitMessage(EventKind::Recv, op, CallArgument::Output, op.getY());
}

void FunctionLowering::emit(WaitOp op) {
  callCommunication(
      getRuntimeFunction(EventKind::Wait),
      [&](CallArgument) { return integer(shared.slots.get(op)); }, op);
}
