//===- LowerLibraryCalls.cpp - products and windows over images -----------===//
//
// Matrix products, convolutions and poolings are calls of the runtime, with
// sizes as numbers (include/dtc/Runtime/ABI.h).
//
//===----------------------------------------------------------------------===//

#include "FunctionLowering.h"
#include "dtc/Lowering/Passes.h"
#include "dtc/Plan/KernelOps.h"
#include "dtc/Runtime/DeviceABI.h"

using namespace mlir;
using namespace dtc;

/// Where a product goes, and how (a set of dtc_result): one that is only
/// accumulated is added where it belongs.
std::pair<Value, int32_t> FunctionLowering::getDestination(OpResult product) {
  Type from = product.getOwner()->getOperand(0).getType();
  int32_t flags = getElementTypeOrSelf(from) == getElementTypeOrSelf(product)
                      ? 0
                      : DTC_RESULT_SUMS;
  AccumulateOp sum = getAccumulation(product.getOwner());
  if (sum && product == sum.getX())
    return {sum.getAccumulator(), flags | DTC_RESULT_ADDED};
  return {product, flags};
}

void FunctionLowering::emit(MatMulOp op) {
  auto [destination, flags] = getDestination(op->getResult(0));
  RankedTensorType lhs = getLocalType(op.getLhs().getType());
  RankedTensorType result = getLocalType(op.getResult().getType());
  int64_t rank = result.getRank();
  int64_t batch = 1;
  for (int64_t size : result.getShape().drop_back(2))
    batch *= size;
  call("dtcrt_matmul",
       {context, integer(getElementType(lhs).code),
        integer(op.getTransposeLhs()), integer(op.getTransposeRhs()),
        integer(flags), integer(batch, 64),
        integer(result.getDimSize(rank - 2), 64),
        integer(result.getDimSize(rank - 1), 64),
        integer(lhs.getDimSize(rank - (op.getTransposeLhs() ? 2 : 1)), 64),
        pointerTo(op.getLhs()), pointerTo(op.getRhs()),
        pointerTo(destination)});
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

/// `others`: other, bias, c and sum; null where there is none.
template <typename Op>
void FunctionLowering::callMatMulEpilogue(Op op, int32_t epilogue,
                                          int32_t flags,
                                          ArrayRef<Value> others) {
  RankedTensorType lhs = getLocalType(op.getLhs().getType());
  RankedTensorType result = getLocalType(op.getResult().getType());
  SmallVector<Value> arguments = {
      context,
      integer(getElementType(lhs).code),
      integer(op.getTransposeLhs()),
      integer(op.getTransposeRhs()),
      integer(epilogue),
      integer(flags),
      integer(result.getDimSize(0), 64),
      integer(result.getDimSize(1), 64),
      integer(lhs.getDimSize(op.getTransposeLhs() ? 0 : 1), 64),
      pointerTo(op.getLhs()),
      pointerTo(op.getRhs())};
  for (Value other : others)
    arguments.push_back(
        other ? pointerTo(other)
              : LLVM::ZeroOp::create(builder, loc, pointer).getResult());
  // It is in the module of kernels, whose functions will be in this one.
  auto kernel =
      op->template getAttrOfType<SymbolRefAttr>(epilogueKernelAttrName);
  arguments.push_back(
      kernel ? LLVM::AddressOfOp::create(builder, loc, pointer,
                                         kernel.getLeafReference())
                   .getResult()
             : LLVM::ZeroOp::create(builder, loc, pointer).getResult());
  call("dtcrt_matmul_epilogue", arguments);
}

void FunctionLowering::emit(MatMulEpilogueOp op) {
  callMatMulEpilogue(
      op, getCode(op.getEpilogue()), 0,
      {op.getOther(), op.getBias(), op.getResult(), op.getSum()});
}

void FunctionLowering::emit(MatMulBiasGradOp op) {
  auto [destination, flags] = getDestination(op->getResult(0));
  callMatMulEpilogue(op,
                     op.getOfLhs() ? DTC_EPILOGUE_SUM_A : DTC_EPILOGUE_SUM_B,
                     flags, {Value(), Value(), destination, op.getSums()});
}

/// What a mask has of [batch, heads, queries, keys], a set of
/// dtc_attention_mask.
static int32_t getMaskDims(Value mask) {
  if (!mask)
    return 0;
  int32_t dims = DTC_MASK_GIVEN;
  const int32_t bits[] = {DTC_MASK_BATCH, DTC_MASK_HEADS, DTC_MASK_QUERIES};
  ArrayRef<int64_t> shape = getLocalType(mask.getType()).getShape();
  for (auto [bit, size] : llvm::zip(bits, shape))
    if (size != 1)
      dims |= bit;
  return dims;
}

template <typename Op>
void FunctionLowering::callAttention(StringRef name, Op op) {
  AttentionSizes sizes = op.getSizes();
  SmallVector<Value> arguments = {
      context, integer(getElementType(op.getQueries().getType()).code),
      integer(op.getCausal()),
      LLVM::ConstantOp::create(builder, loc, builder.getF64Type(),
                               op.getScaleAttr())};
  for (int64_t size : {sizes.batch, sizes.queries, sizes.keys, sizes.heads,
                       sizes.groups, sizes.width, sizes.valueWidth})
    arguments.push_back(integer(size, 64));
  arguments.push_back(integer(getMaskDims(op.getMask())));
  for (Value value :
       {Value(op.getQueries()), Value(op.getKeys()), Value(op.getValues())})
    arguments.push_back(pointerTo(value));
  arguments.push_back(
      op.getMask() ? pointerTo(op.getMask())
                   : LLVM::ZeroOp::create(builder, loc, pointer).getResult());
  for (Value value : op->getOperands().drop_front(op.getMask() ? 4 : 3))
    arguments.push_back(pointerTo(value));
  for (Value value : op->getResults())
    arguments.push_back(pointerTo(value));
  call(name, arguments);
}

void FunctionLowering::emit(AttentionOp op) {
  callAttention("dtcrt_attention", op);
}

void FunctionLowering::emit(AttentionGradOp op) {
  callAttention("dtcrt_attention_grad", op);
}

template <typename Op>
void FunctionLowering::callPackedAttention(StringRef name, Op op) {
  AttentionSizes sizes = op.getSizes();
  SmallVector<Value> arguments = {
      context, integer(getElementType(op.getPacked().getType()).code),
      integer(op.getCausal()), integer(op.getByHead()),
      LLVM::ConstantOp::create(builder, loc, builder.getF64Type(),
                               op.getScaleAttr())};
  for (int64_t size : {sizes.batch, sizes.queries, sizes.heads, sizes.width})
    arguments.push_back(integer(size, 64));
  for (Value value : op->getOperands())
    arguments.push_back(pointerTo(value));
  for (Value value : op->getResults())
    arguments.push_back(pointerTo(value));
  call(name, arguments);
}

void FunctionLowering::emit(PackedAttentionOp op) {
  callPackedAttention("dtcrt_packed_attention", op);
}

void FunctionLowering::emit(PackedAttentionGradOp op) {
  callPackedAttention("dtcrt_packed_attention_grad", op);
}

/// The numbers that all calls with a window have.
static std::array<int64_t, 14> getSizes(const Window &w) {
  return {w.batch,          w.height,       w.width,        w.channels,
          w.rows,           w.columns,      w.kernelHeight, w.kernelWidth,
          w.strideHeight,   w.strideWidth,  w.top,          w.left,
          w.dilationHeight, w.dilationWidth};
}

template <typename Op>
void FunctionLowering::callConvolution(Op op, dtc_conv_role role) {
  auto [destination, flags] = getDestination(op->getResult(0));
  Window window = op.getWindow();
  SmallVector<Value> arguments = {
      context, integer(getElementType(op->getOperand(0).getType()).code),
      integer(role), integer(flags)};
  for (int64_t size : getSizes(window))
    arguments.push_back(integer(size, 64));
  ArrayRef<int64_t> shape = getLocalType(op.getFilters().getType()).getShape();
  arguments.push_back(integer(shape[0], 64));
  arguments.push_back(integer(window.channels / shape[3], 64));
  for (Value value : {Value(op.getImages()), Value(op.getFilters()),
                      Value(op.getPositions())})
    arguments.push_back(
        pointerTo(value == op->getResult(0) ? destination : value));
  arguments.push_back(scratch);
  bool isDouble =
      getLocalType(op.getFilters().getType()).getElementType().isF64();
  needScratch(!isDouble &&
                      dtc_conv_has_winograd(
                          window.kernelHeight, window.kernelWidth,
                          window.strideHeight, window.strideWidth,
                          window.dilationHeight, window.dilationWidth,
                          window.channels, shape[0], window.channels / shape[3])
                  ? DTC_WINOGRAD_SCRATCH_BYTES
                  : DTC_CONV_SCRATCH_BYTES);
  call("dtcrt_conv2d", arguments);
}

/// What a role does not use is null.
template <typename Op>
void FunctionLowering::callPooling(Op op, dtc_pool_role role, Value images,
                                   Value gradient) {
  SmallVector<Value> arguments = {
      context, integer(getElementType(op.getPositions().getType()).code),
      integer(role)};
  for (int64_t size : getSizes(op.getWindow()))
    arguments.push_back(integer(size, 64));
  for (Value value : {images, Value(op.getPositions()), gradient})
    arguments.push_back(
        value ? pointerTo(value)
              : LLVM::ZeroOp::create(builder, loc, pointer).getResult());
  call("dtcrt_pool2d", arguments);
}

void FunctionLowering::emit(Conv2DOp op) {
  callConvolution(op, DTC_CONV_FORWARD);
}

void FunctionLowering::emit(Conv2DInputGradOp op) {
  callConvolution(op, DTC_CONV_INPUT_GRAD);
}

void FunctionLowering::emit(Conv2DFilterGradOp op) {
  callConvolution(op, DTC_CONV_WEIGHT_GRAD);
}

void FunctionLowering::emit(MaxPool2DOp op) {
  callPooling(op, DTC_POOL_MAX, op.getImages(), {});
}

void FunctionLowering::emit(MaxPool2DGradOp op) {
  callPooling(op, DTC_POOL_MAX_GRAD, op.getImages(), op.getDimages());
}

void FunctionLowering::emit(SumPool2DOp op) {
  callPooling(op, DTC_POOL_SUM, op.getImages(), {});
}

void FunctionLowering::emit(SumPool2DGradOp op) {
  callPooling(op, DTC_POOL_SUM_GRAD, {}, op.getImages());
}
