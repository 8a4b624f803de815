//===- RuntimeCall.cpp - the event and memory of a runtime call -----------===//

#include "RuntimeCall.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Runtime/DeviceABI.h"
#include "dtc/Support/ElementType.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace dtc;

LogicalResult RuntimeCall::read() {
  if (const RuntimeFunction *function = findRuntimeFunction(*call.getCallee()))
    return readCommunication(*function);
  StringRef name = *call.getCallee();
  if (name == "dtcrt_attention" || name == "dtcrt_attention_grad")
    return readAttention(name == "dtcrt_attention_grad");
  if (name == "dtcrt_packed_attention" || name == "dtcrt_packed_attention_grad")
    return readPackedAttention(name == "dtcrt_packed_attention_grad");
  if (name == "dtcrt_dispatch" || name == "dtcrt_combine")
    return readSlots(name == "dtcrt_combine");
  using Reader = LogicalResult (RuntimeCall::*)();
  auto other =
      llvm::StringSwitch<Reader>(name)
          .Case("dtcrt_matmul", &RuntimeCall::readMatMul)
          .Case("dtcrt_matmul_epilogue", &RuntimeCall::readMatMulEpilogue)
          .Case("dtcrt_grouped_matmul", &RuntimeCall::readGroupedMatMul)
          .Case("dtcrt_grouped_outer", &RuntimeCall::readGroupedOuter)
          .Case("dtcrt_expert_matmul", &RuntimeCall::readExpertMatMul)
          .Case("dtcrt_expert_outer", &RuntimeCall::readExpertOuter)
          .Case("dtcrt_count_rows", &RuntimeCall::readCountRows)
          .Case("dtcrt_conv2d", &RuntimeCall::readConv2D)
          .Case("dtcrt_pool2d", &RuntimeCall::readPool2D)
          .Case("dtcrt_top_k", &RuntimeCall::readTopK)
          .Case("dtcrt_orthonormalize", &RuntimeCall::readOrthonormalize)
          .Case("dtcrt_local_slice", &RuntimeCall::readLocalSlice)
          .Case("dtcrt_copy", &RuntimeCall::readCopy)
          .Case("dtcrt_fill", &RuntimeCall::readFill)
          .Case("dtcrt_record", &RuntimeCall::readRecord)
          .Case("dtcrt_constant", &RuntimeCall::readNothing)
          .Cases({"dtcrt_run_begin", "dtcrt_run_end"},
                 &RuntimeCall::readNothing)
          // The op before has written a result that is reported, so there is
          // nothing to prove.
          .Cases({"dtcrt_op_begin", "dtcrt_op_result", "dtcrt_op_end"},
                 &RuntimeCall::readNothing)
          .Default(nullptr);
  if (!other)
    return error() << ", which is not known";
  return (this->*other)();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

InFlightDiagnostic RuntimeCall::error() {
  return call.emitError("calls @") << *call.getCallee();
}

LogicalResult RuntimeCall::expectArguments(unsigned count) {
  unsigned found = call.getArgOperands().size();
  if (found == count)
    return success();
  return error() << " with " << found << " arguments, expected " << count;
}

LogicalResult RuntimeCall::expectRole(int64_t role, int64_t first,
                                      int64_t last) {
  if (role >= first && role <= last)
    return success();
  return error() << " with role " << role << ", which the runtime does not "
                 << "have";
}

FailureOr<int64_t> RuntimeCall::countMembers(int64_t group) {
  if (group < 0 || group >= static_cast<int64_t>(system.groups.size()))
    return error() << " over group " << group << " of " << system.groups.size();
  return system.getNumMembers(group);
}

//===----------------------------------------------------------------------===//
// Communication, by the table of functions
//===----------------------------------------------------------------------===//

LogicalResult RuntimeCall::readNumber(CallArgument argument, int64_t number) {
  switch (argument) {
  case CallArgument::Group: {
    FailureOr<int64_t> count = countMembers(number);
    if (failed(count))
      return failure();
    members = *count;
    event.group = number;
    return success();
  }
  case CallArgument::Permutation:
    event.permutation = number;
    return success();
  case CallArgument::Slot:
    event.slot = number;
    return success();
  case CallArgument::Stage:
    event.stage = number;
    return success();
  case CallArgument::Tag:
    event.tag = number;
    return success();
  case CallArgument::Dtype:
    if (!isElementType(number))
      return error() << " with element type " << number
                     << ", which the runtime does not have";
    event.dtype = number;
    return success();
  case CallArgument::Reduction:
    if (number != DTC_SUM && number != DTC_MAX)
      return error() << " with reduction " << number
                     << ", which the runtime does not have";
    event.reduction = number;
    return success();
  case CallArgument::InputBlocks:
  case CallArgument::OutputBlocks:
    if (number < 1)
      return error() << " with shares in " << number
                     << " blocks, expected at least 1";
    (argument == CallArgument::InputBlocks ? event.inputBlocks
                                           : event.outputBlocks) = number;
    return success();
  case CallArgument::Count:
  case CallArgument::Bytes:
    event.count = number;
    return success();
  case CallArgument::Context:
  case CallArgument::Input:
  case CallArgument::Output:
  case CallArgument::InOut:
  case CallArgument::Scratch:
    return success();
  }
  return failure();
}

LogicalResult RuntimeCall::readCommunication(const RuntimeFunction &function) {
  if (failed(expectArguments(function.arguments.size())))
    return failure();
  event.kind = function.event;
  event.collective = function.collective;
  for (auto [argument, number] : llvm::zip_equal(function.arguments, numbers))
    if (failed(readNumber(argument, number)))
      return failure();
  int64_t share =
      event.count *
      (event.dtype < 0 ? 1 : sizeOf(static_cast<dtc_dtype>(event.dtype)));
  int64_t read = share, written = share;
  if (isCollective(event.kind)) {
    const CollectiveTraits &traits = getTraits(event.collective);
    read *= countShares(traits.input, members);
    written *= countShares(traits.output, members);
    if (auto value = call->getAttrOfType<IntegerAttr>(attr::value))
      event.subject = value.getInt();
  }
  for (auto [i, argument] : llvm::enumerate(function.arguments)) {
    if (argument == CallArgument::Input || argument == CallArgument::InOut)
      touch(i, read, false);
    if (argument == CallArgument::Output || argument == CallArgument::InOut)
      touch(i, written, true);
  }
  return success();
}

/// The begin or the end of a phase, for profiles.
LogicalResult RuntimeCall::readNothing() { return success(); }

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

/// Marks the result as written or accumulated, by `flags`, a set of dtc_result.
void RuntimeCall::touchResult(unsigned argument, int64_t flags, int64_t dtype,
                              int64_t count) {
  const ElementType &type = getElementType(static_cast<dtc_dtype>(dtype));
  int64_t bytes =
      count * (flags & DTC_RESULT_SUMS ? sizeOf(type.sums) : type.bytes);
  if (flags & DTC_RESULT_ADDED)
    touch(argument, bytes, false);
  touch(argument, bytes, true);
}

LogicalResult RuntimeCall::readMatMul() {
  if (failed(expectArguments(12)))
    return failure();
  int64_t bytes = sizeOf(static_cast<dtc_dtype>(numbers[1])) * numbers[5];
  int64_t m = numbers[6], n = numbers[7], k = numbers[8];
  touch(9, bytes * m * k, false);
  touch(10, bytes * k * n, false);
  touchResult(11, numbers[4], numbers[1], numbers[5] * m * n);
  return success();
}

LogicalResult RuntimeCall::readMatMulEpilogue() {
  if (failed(expectArguments(16)) ||
      failed(expectRole(numbers[4], DTC_EPILOGUE_BIAS, DTC_EPILOGUE_SUM_B)))
    return failure();
  auto epilogue = static_cast<dtc_epilogue>(numbers[4]);
  auto type = static_cast<dtc_dtype>(numbers[1]);
  int64_t bytes = sizeOf(type), m = numbers[6], n = numbers[7], k = numbers[8];
  bool hasMatrix =
      epilogue == DTC_EPILOGUE_GELU_GRAD || epilogue == DTC_EPILOGUE_ADD;
  bool sums = epilogue == DTC_EPILOGUE_SUM_A || epilogue == DTC_EPILOGUE_SUM_B;
  auto isGiven = [&](unsigned argument) {
    return !call.getArgOperands()[argument].getDefiningOp<LLVM::ZeroOp>();
  };
  touch(9, bytes * m * k, false);
  touch(10, bytes * k * n, false);
  if (isGiven(11))
    touch(11, bytes * (hasMatrix ? m : 1) * n, false);
  if (isGiven(12))
    touch(12, bytes * n, false);
  touchResult(13, numbers[5], numbers[1], m * n);
  if (sums)
    touch(14,
          sizeOf(getElementType(type).sums) *
              (epilogue == DTC_EPILOGUE_SUM_A ? m : n),
          true);
  else if (isGiven(14))
    touch(14, bytes * m * n, true);
  return success();
}

/// Arguments: context, types of elements and indices, transpose, flags, rows,
/// matrices, n, k, buffers.
LogicalResult RuntimeCall::readGroupedMatMul() {
  if (failed(expectArguments(13)))
    return failure();
  int64_t bytes = sizeOf(static_cast<dtc_dtype>(numbers[1]));
  int64_t rows = numbers[5], n = numbers[7], k = numbers[8];
  touch(9, bytes * rows * k, false);
  touch(10, bytes * numbers[6] * n * k, false);
  touch(11, sizeOf(static_cast<dtc_dtype>(numbers[2])) * rows, false);
  touchResult(12, numbers[4], numbers[1], rows * n);
  return success();
}

/// Arguments: context, types of elements and indices, flags, rows, matrices, m,
/// n, buffers.
LogicalResult RuntimeCall::readGroupedOuter() {
  if (failed(expectArguments(12)))
    return failure();
  int64_t bytes = sizeOf(static_cast<dtc_dtype>(numbers[1]));
  int64_t rows = numbers[4], m = numbers[6], n = numbers[7];
  touch(8, bytes * rows * m, false);
  touch(9, bytes * rows * n, false);
  touch(10, sizeOf(static_cast<dtc_dtype>(numbers[2])) * rows, false);
  touchResult(11, numbers[3], numbers[1], numbers[5] * m * n);
  return success();
}

/// Arguments: context, type, transpose, flags, experts, groups, capacity, n, k,
/// buffers.
LogicalResult RuntimeCall::readExpertMatMul() {
  if (failed(expectArguments(13)))
    return failure();
  int64_t bytes = sizeOf(static_cast<dtc_dtype>(numbers[1]));
  int64_t experts = numbers[4], blocks = experts * numbers[5];
  int64_t slots = blocks * numbers[6], n = numbers[7], k = numbers[8];
  touch(9, bytes * slots * k, false);
  touch(10, bytes * experts * n * k, false);
  touch(11, sizeOf(DTC_I32) * blocks, false);
  touchResult(12, numbers[3], numbers[1], slots * n);
  return success();
}

/// Arguments: context, type, flags, experts, groups, capacity, m, n, buffers.
LogicalResult RuntimeCall::readExpertOuter() {
  if (failed(expectArguments(12)))
    return failure();
  int64_t bytes = sizeOf(static_cast<dtc_dtype>(numbers[1]));
  int64_t experts = numbers[3], blocks = experts * numbers[4];
  int64_t slots = blocks * numbers[5], m = numbers[6], n = numbers[7];
  touch(8, bytes * slots * m, false);
  touch(9, bytes * slots * n, false);
  touch(10, sizeOf(DTC_I32) * blocks, false);
  touchResult(11, numbers[2], numbers[1], experts * m * n);
  return success();
}

/// Arguments: context, types of elements and indices, groups, rows, experts,
/// capacity, width, buffers: rows, indices, slots, or slots, indices, rows.
LogicalResult RuntimeCall::readSlots(bool isCombine) {
  if (failed(expectArguments(11)))
    return failure();
  int64_t bytes = sizeOf(static_cast<dtc_dtype>(numbers[1])) * numbers[7];
  int64_t rows = numbers[3] * numbers[4];
  int64_t slots = numbers[5] * numbers[3] * numbers[6];
  touch(8, bytes * (isCombine ? slots : rows), false);
  touch(9, sizeOf(static_cast<dtc_dtype>(numbers[2])) * rows, false);
  touch(10, bytes * (isCombine ? rows : slots), true);
  return success();
}

/// Arguments: context, type of indices, groups, rows, experts, capacity,
/// buffers.
LogicalResult RuntimeCall::readCountRows() {
  if (failed(expectArguments(8)))
    return failure();
  touch(6, sizeOf(static_cast<dtc_dtype>(numbers[1])) * numbers[2] * numbers[3],
        false);
  touch(7, sizeOf(DTC_I32) * numbers[4] * numbers[2], true);
  return success();
}

/// Arguments: context, type, causal, scale, seven sizes, mask dimensions,
/// buffers.
LogicalResult RuntimeCall::readAttention(bool isGrad) {
  if (failed(expectArguments(isGrad ? 22 : 18)))
    return failure();
  const ElementType &type = getElementType(static_cast<dtc_dtype>(numbers[1]));
  int64_t batch = numbers[4], rows = numbers[5], cols = numbers[6];
  int64_t heads = numbers[7], groups = numbers[8], width = numbers[9];
  int64_t valueWidth = numbers[10], dims = numbers[11];
  int64_t queries = batch * rows * heads * width * type.bytes;
  int64_t keys = batch * cols * groups * width * type.bytes;
  int64_t values = batch * cols * groups * valueWidth * type.bytes;
  int64_t result = batch * rows * heads * valueWidth * type.bytes;
  int64_t lse = batch * heads * rows * sizeOf(type.sums);
  touch(12, queries, false);
  touch(13, keys, false);
  touch(14, values, false);
  if (dims & DTC_MASK_GIVEN)
    touch(15,
          (dims & DTC_MASK_BATCH ? batch : 1) *
              (dims & DTC_MASK_HEADS ? heads : 1) *
              (dims & DTC_MASK_QUERIES ? rows : 1) * cols * type.bytes,
          false);
  touch(16, result, !isGrad);
  touch(17, lse, !isGrad);
  if (isGrad) {
    touch(18, result, false);
    touch(19, queries, true);
    touch(20, keys, true);
    touch(21, values, true);
  }
  return success();
}

/// Arguments: context, type, causal, layout by head, scale, four sizes,
/// buffers.
LogicalResult RuntimeCall::readPackedAttention(bool isGrad) {
  if (failed(expectArguments(isGrad ? 14 : 12)))
    return failure();
  const ElementType &type = getElementType(static_cast<dtc_dtype>(numbers[1]));
  int64_t rows = numbers[5] * numbers[6] * numbers[7];
  int64_t result = rows * numbers[8] * type.bytes;
  touch(9, 3 * result, false);
  touch(10, result, !isGrad);
  touch(11, rows * sizeOf(type.sums), !isGrad);
  if (isGrad) {
    touch(12, result, false);
    touch(13, 3 * result, true);
  }
  return success();
}

LogicalResult RuntimeCall::readConv2D() {
  if (failed(expectArguments(24)))
    return failure();
  int64_t bytes = sizeOf(static_cast<dtc_dtype>(numbers[1])), role = numbers[2];
  int64_t n = numbers[4], h = numbers[5], w = numbers[6], c = numbers[7];
  int64_t oh = numbers[8], ow = numbers[9], kh = numbers[10], kw = numbers[11];
  int64_t filters = numbers[18], groups = numbers[19];
  if (failed(expectRole(role, DTC_CONV_FORWARD, DTC_CONV_WEIGHT_GRAD)))
    return failure();
  if (groups < 1 || c % groups || filters % groups)
    return error() << " with " << groups << " groups of " << c
                   << " channels and " << filters
                   << " filters, expected a divisor of both";
  // Nothing else may use the scratch during the call.
  const std::pair<unsigned, int64_t> buffers[] = {
      {20, n * h * w * c},
      {21, filters * kh * kw * (c / groups)},
      {22, n * oh * ow * filters}};
  unsigned result = role == DTC_CONV_FORWARD      ? 22
                    : role == DTC_CONV_INPUT_GRAD ? 20
                                                  : 21;
  for (auto [argument, count] : buffers)
    if (argument == result)
      touchResult(argument, numbers[3], numbers[1], count);
    else
      touch(argument, bytes * count, false);
  return success();
}

LogicalResult RuntimeCall::readPool2D() {
  if (failed(expectArguments(20)))
    return failure();
  int64_t bytes = sizeOf(static_cast<dtc_dtype>(numbers[1])), role = numbers[2];
  int64_t n = numbers[3], h = numbers[4], w = numbers[5], c = numbers[6];
  int64_t oh = numbers[7], ow = numbers[8];
  if (failed(expectRole(role, DTC_POOL_MAX, DTC_POOL_SUM_GRAD)))
    return failure();
  bool isGrad = role == DTC_POOL_MAX_GRAD || role == DTC_POOL_SUM_GRAD;
  if (role != DTC_POOL_SUM_GRAD)
    touch(17, bytes * n * h * w * c, false);
  touch(18, bytes * n * oh * ow * c, !isGrad);
  if (isGrad)
    touch(19, bytes * n * h * w * c, true);
  return success();
}

/// Arguments: context, dtype, rows, columns, k, x, indices.
LogicalResult RuntimeCall::readTopK() {
  if (failed(expectArguments(7)))
    return failure();
  touch(5, sizeOf(static_cast<dtc_dtype>(numbers[1])) * numbers[2] * numbers[3],
        false);
  touch(6, sizeOf(DTC_I32) * numbers[2] * numbers[4], true);
  return success();
}

/// Arguments: context, dtype, batch, rows, columns, x, y.
LogicalResult RuntimeCall::readOrthonormalize() {
  if (failed(expectArguments(7)))
    return failure();
  int64_t bytes = sizeOf(static_cast<dtc_dtype>(numbers[1])) * numbers[2] *
                  numbers[3] * numbers[4];
  touch(5, bytes, false);
  touch(6, bytes, true);
  return success();
}

LogicalResult RuntimeCall::readLocalSlice() {
  if (failed(expectArguments(6)))
    return failure();
  FailureOr<int64_t> parts = countMembers(numbers[1]);
  if (failed(parts))
    return failure();
  int64_t bytes = numbers[4] * numbers[5];
  touch(2, *parts * bytes, false);
  touch(3, bytes, true);
  return success();
}

/// Arguments: context, destination, source, bytes.
LogicalResult RuntimeCall::readCopy() {
  if (failed(expectArguments(4)))
    return failure();
  touch(1, numbers[3], /*writes=*/true);
  touch(2, numbers[3], /*writes=*/false);
  return success();
}

/// Arguments: context, destination, byte, bytes.
LogicalResult RuntimeCall::readFill() {
  if (failed(expectArguments(4)))
    return failure();
  touch(1, numbers[3], /*writes=*/true);
  return success();
}

/// Arguments: context, micro-batch, source, bytes.
LogicalResult RuntimeCall::readRecord() {
  if (failed(expectArguments(4)))
    return failure();
  touch(2, numbers[3], /*writes=*/false);
  return success();
}
