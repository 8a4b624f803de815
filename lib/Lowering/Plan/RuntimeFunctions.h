//===- RuntimeFunctions.h - functions for communication ---------*- C++ -*-===//
//
// The table of the runtime's functions for communication
// (include/dtc/Runtime/ABI.h): the meaning of each argument, and the event of a
// call. LowerPlan builds calls with this table, and the proof of lowered
// programs reads calls with it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_LOWERING_PLAN_RUNTIMEFUNCTIONS_H
#define DTC_LIB_LOWERING_PLAN_RUNTIMEFUNCTIONS_H

#include "dtc/Communication/Communication.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace dtc {

/// The meaning of an argument. Those up to `OutputBlocks` are 32-bit integers;
/// numbers of blocks and of bytes have 64 bits.
enum class CallArgument : uint8_t {
  Context,
  Group,       ///< index of a group in the manifest
  Permutation, ///< index of a permutation of members in the manifest
  Slot,
  Stage,
  Tag,
  Dtype, ///< dtc_dtype
  Reduction,
  InputBlocks,
  OutputBlocks,
  Count,   ///< elements of a share
  Bytes,   ///< of a share or a message
  Input,   ///< pointer to memory that is read
  Output,  ///< pointer to memory that is written
  InOut,   ///< pointer to memory that is read, then overwritten
  Scratch, ///< pointer to memory that nothing else uses
};

/// A function of the runtime that is an event: a message, a wait, or a
/// collective, which is blocking or only started.
struct RuntimeFunction {
  std::string name;
  EventKind event;
  CollectiveKind collective = CollectiveKind::AllReduce; ///< if it is one
  llvm::SmallVector<CallArgument, 10> arguments;
};

/// Finds a function by name; null if it does not communicate.
const RuntimeFunction *findRuntimeFunction(llvm::StringRef name);

const RuntimeFunction &getRuntimeFunction(EventKind event);
const RuntimeFunction &getRuntimeFunction(CollectiveKind kind, bool starts);

} // namespace dtc

#endif // DTC_LIB_LOWERING_PLAN_RUNTIMEFUNCTIONS_H
