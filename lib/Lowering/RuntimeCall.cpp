//===- RuntimeCall.cpp - what a call of the runtime does ------------------===//

#include "RuntimeCall.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Runtime/ABI.h"
#include "dtc/Support/ElementType.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace dtc;

LogicalResult RuntimeCall::read() {
  StringRef name = *call.getCallee();
  isStart = name.consume_back("_start");
  using Reader = LogicalResult (RuntimeCall::*)();
  auto collective =
      llvm::StringSwitch<Reader>(name)
          .Case("dtcrt_all_reduce", &RuntimeCall::readAllReduce)
          .Case("dtcrt_all_gather", &RuntimeCall::readAllGather)
          .Case("dtcrt_reduce_scatter", &RuntimeCall::readReduceScatter)
          .Default(nullptr);
  if (collective)
    return (this->*collective)();
  auto other = llvm::StringSwitch<Reader>(*call.getCallee())
                   .Case("dtcrt_send", &RuntimeCall::readSend)
                   .Case("dtcrt_recv", &RuntimeCall::readRecv)
                   .Case("dtcrt_wait", &RuntimeCall::readWait)
                   .Case("dtcrt_matmul", &RuntimeCall::readMatMul)
                   .Case("dtcrt_conv2d", &RuntimeCall::readConv2D)
                   .Case("dtcrt_pool2d", &RuntimeCall::readPool2D)
                   .Case("dtcrt_local_slice", &RuntimeCall::readLocalSlice)
                   .Case("dtcrt_run_begin", &RuntimeCall::readNothing)
                   .Case("dtcrt_run_end", &RuntimeCall::readNothing)
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
  int64_t count = 1;
  for (int32_t axis : system.groups[group])
    count *= system.axes[axis].size;
  return count;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Where a phase begins and ends, for who watches.
LogicalResult RuntimeCall::readNothing() { return success(); }

LogicalResult RuntimeCall::readSend() {
  if (failed(expectArguments(6)))
    return failure();
  event.kind = EventKind::Send;
  event.stage = numbers[1];
  event.tag = numbers[2];
  event.slot = numbers[3];
  event.count = numbers[5];
  touch(4, event.count, false);
  return success();
}

LogicalResult RuntimeCall::readRecv() {
  if (failed(expectArguments(5)))
    return failure();
  event.kind = EventKind::Recv;
  event.stage = numbers[1];
  event.tag = numbers[2];
  event.count = numbers[4];
  touch(3, event.count, true);
  return success();
}

LogicalResult RuntimeCall::readWait() {
  if (failed(expectArguments(2)))
    return failure();
  event.kind = EventKind::Wait;
  event.slot = numbers[1];
  return success();
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

/// Of a product: `flags` are a set of dtc_result.
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
  // Scratch is used by nothing else meanwhile.
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

//===----------------------------------------------------------------------===//
// Collectives: where one starts there is a slot behind the group, and there are
// no blocks
//===----------------------------------------------------------------------===//

/// Returns the number of the next argument.
FailureOr<unsigned> RuntimeCall::readGroup(unsigned numArguments) {
  if (failed(expectArguments(numArguments)))
    return failure();
  FailureOr<int64_t> count = countMembers(numbers[1]);
  if (failed(count))
    return failure();
  event.group = numbers[1];
  members = *count;
  if (isStart)
    event.slot = numbers[2];
  if (auto value = call->getAttrOfType<IntegerAttr>(attr::value))
    event.subject = value.getInt();
  return isStart ? 3 : 2;
}

FailureOr<unsigned> RuntimeCall::readReduction(unsigned next) {
  int64_t dtype = numbers[next], reduction = numbers[next + 1];
  if (!isElementType(dtype))
    return error() << " with element type " << dtype
                   << ", which the runtime does not have";
  if (reduction != DTC_SUM && reduction != DTC_MAX)
    return error() << " with reduction " << reduction
                   << ", which the runtime does not have";
  event.dtype = dtype;
  event.reduction = reduction;
  return next + 2;
}

/// How many blocks, unless it starts, of what count.
void RuntimeCall::readBlocks(unsigned next) {
  if (!isStart) {
    ++next; // scratch, which nothing else uses meanwhile
    event.blocks = numbers[next++];
  }
  event.count = numbers[next];
}

LogicalResult RuntimeCall::readAllReduce() {
  event.kind = EventKind::AllReduce;
  FailureOr<unsigned> next = readGroup(isStart ? 7 : 6);
  if (succeeded(next))
    next = readReduction(*next);
  if (failed(next))
    return failure();
  event.count = numbers[*next + 1];
  int64_t bytes = event.count * sizeOf(static_cast<dtc_dtype>(event.dtype));
  touch(*next, bytes, false);
  touch(*next, bytes, true);
  return success();
}

LogicalResult RuntimeCall::readAllGather() {
  event.kind = EventKind::AllGather;
  FailureOr<unsigned> next = readGroup(isStart ? 6 : 7);
  if (failed(next))
    return failure();
  readBlocks(*next + 2);
  int64_t bytes = event.count * event.blocks;
  touch(*next, bytes, false);
  touch(*next + 1, bytes * members, true);
  return success();
}

LogicalResult RuntimeCall::readReduceScatter() {
  event.kind = EventKind::ReduceScatter;
  FailureOr<unsigned> next = readGroup(isStart ? 8 : 9);
  if (succeeded(next))
    next = readReduction(*next);
  if (failed(next))
    return failure();
  readBlocks(*next + 2);
  int64_t bytes =
      event.count * event.blocks * sizeOf(static_cast<dtc_dtype>(event.dtype));
  touch(*next, bytes * members, false);
  touch(*next + 1, bytes, true);
  return success();
}
