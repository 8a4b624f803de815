//===- RuntimeFunctions.h - what generated code calls -----------*- C++ -*-===//
//
// The table of the runtime's functions (include/dtc/Runtime/ABI.h): what each
// argument is and which event a call is. Lowering writes calls by it, and the
// proof of lowered programs reads them by it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_LOWERING_PLAN_RUNTIMEFUNCTIONS_H
#define DTC_LIB_LOWERING_PLAN_RUNTIMEFUNCTIONS_H

#include "dtc/Communication/Communication.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace dtc {

/// What an argument of a call is. Those up to `OutputBlocks` are integers of 32
/// bits, but for the numbers of blocks and bytes, which have 64.
enum class CallArgument : uint8_t {
  Context,
  Group,       ///< of ranks, an index of the manifest
  Permutation, ///< of a group's members, an index of the manifest
  Slot,
  Stage,
  Tag,
  Dtype, ///< dtc_dtype
  Reduction,
  InputBlocks,
  OutputBlocks,
  Count,   ///< elements of a share
  Bytes,   ///< of a share or a message
  Input,   ///< pointer to what is read
  Output,  ///< pointer to what is written
  InOut,   ///< pointer to what is read, then overwritten
  Scratch, ///< pointer to what nothing else uses meanwhile
};

/// A function of the runtime that is an event: a message, a wait, or a
/// collective, done at once or started.
struct RuntimeFunction {
  std::string name;
  EventKind event;
  CollectiveKind collective = CollectiveKind::AllReduce; ///< if it is one
  llvm::SmallVector<CallArgument, 10> arguments;
};

/// Null if it is no such function.
const RuntimeFunction *findRuntimeFunction(llvm::StringRef name);

const RuntimeFunction &getRuntimeFunction(EventKind event);
const RuntimeFunction &getRuntimeFunction(CollectiveKind kind, bool starts);

} // namespace dtc

#endif // DTC_LIB_LOWERING_PLAN_RUNTIMEFUNCTIONS_H
