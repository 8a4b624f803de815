//===- MemoryPlan.h - what PlanMemory writes into the IR --------*- C++ -*-===//
//
// Attributes of the static memory plan, for the passes that read it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_MEMORY_MEMORYPLAN_H
#define DTC_MEMORY_MEMORYPLAN_H

#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/Skeleton.h"

namespace dtc {

namespace attr {
/// Op: the byte offset of each result, in the frame of its function, or in the
/// arena in a plan; `callersMemory` for what lies elsewhere.
constexpr llvm::StringLiteral offsets = "dtc.offsets";
/// Argument of a plan: its byte offset in the arena, or from `hostMemory` on
/// that in the host's memory.
constexpr llvm::StringLiteral offset = "dtc.offset";
/// Function: the bytes of its frame.
constexpr llvm::StringLiteral frameBytes = "dtc.frame_bytes";
/// Run: the offset of the callee's frame in the arena.
constexpr llvm::StringLiteral frameOffset = "dtc.frame_offset";
/// Plan: the bytes of the arena.
constexpr llvm::StringLiteral arenaBytes = "dtc.arena_bytes";
/// Plan: the bytes of the host's memory that it has beside the arena, if any.
constexpr llvm::StringLiteral hostBytes = "dtc.host_bytes";
/// Launch: the kernel's scratch is poisoned before.
constexpr llvm::StringLiteral poisonScratch = "dtc.poison_scratch";
} // namespace attr

/// The offset of a value that is neither in the frame nor in the arena: see
/// MemoryHomes.
constexpr int64_t callersMemory = -1;

/// Offsets from here on are of memory of the host, where a GPU's plan may keep
/// arguments.
constexpr int64_t hostMemory = DTC_HOST_MEMORY;
inline bool isInHostMemory(int64_t offset) { return offset >= hostMemory; }

/// The bytes of the host's memory that a plan has; `dtc.host_bytes`.
int64_t getHostBytes(mlir::func::FuncOp plan);
/// Arguments that lie there, of a plan and of the functions that it runs.
llvm::DenseSet<mlir::Value> getHostArguments(mlir::func::FuncOp plan);

/// Where the buffer of a value lies.
struct MemoryHome {
  enum Kind {
    Argument, ///< the caller's memory for argument `index`
    Result,   ///< the caller's memory for result `index`
    Constant, ///< a constant of the program
    Local,    ///< the frame of the function, or the arena in a plan
  };
  Kind kind;
  unsigned index = 0;
};

/// Where the values of a function lie. In a plan, arguments and results lie in
/// the arena: everything is Local.
class MemoryHomes {
public:
  MemoryHomes(mlir::func::FuncOp function, const AliasClasses &classes);
  MemoryHome get(mlir::Value value) const;

private:
  bool isPlan;
  const AliasClasses &classes;
  llvm::DenseMap<mlir::Value, unsigned> results; ///< by root
};

/// The arguments of a plan by what they are.
class PlanArguments {
public:
  explicit PlanArguments(mlir::func::FuncOp plan);
  /// The one that is the same input, parameter or state as that of another
  /// plan; null if there is none.
  mlir::BlockArgument find(mlir::BlockArgument other) const;

private:
  /// What an argument is: an attribute's name, its value.
  using Meaning = std::pair<llvm::StringRef, mlir::Attribute>;
  static Meaning getMeaning(mlir::BlockArgument argument);
  llvm::DenseMap<Meaning, mlir::BlockArgument> arguments;
};

/// Where PlanMemory put an argument of a plan or a result of an op; none if it
/// is the caller's memory.
std::optional<int64_t> getPlannedOffset(mlir::Value value);

/// Arguments of a plan whose new value is a buffer of its own, by that value.
llvm::DenseMap<mlir::Value, mlir::BlockArgument>
getReplacedArguments(mlir::func::FuncOp plan, const AliasClasses &classes);

/// Bytes of the one range in which the operands of a collective lie, side by
/// side, each aligned.
int64_t getBucketBytes(mlir::ValueRange operands);

/// Bytes of the larger of a rank's two buffers of a collective, operands or
/// results: what reports and traces count.
int64_t getWholeBytes(CollectiveOpInterface op);

/// The bytes of the frame that a run needs; 0 before they are planned.
int64_t getFrameBytes(RunOp run);

/// The operands of collectives that must lie one after the other: roots of
/// their buffers, in order. A run has those of the function that it calls.
/// Fails if a function's operands lie partly in its frame.
mlir::FailureOr<std::vector<llvm::SmallVector<mlir::Value>>>
getAdjacentRoots(mlir::func::FuncOp function, const AliasClasses &classes,
                 const MemoryHomes &homes);

/// The buffers that transfers touch from their start to their wait: roots.
struct InFlight {
  /// What each wait ends, in the function or in one that it runs.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> endedBy;
  /// Arguments that it waits for: a caller has started what makes them.
  llvm::SmallVector<unsigned> awaited;
  /// What the function, or one that it runs, leaves to its caller.
  struct Left {
    llvm::SmallVector<mlir::Value> made, touched;
  };
  std::vector<Left> left;
};

/// Fails if what a function leaves to its caller lies in its own frame.
mlir::FailureOr<InFlight> getInFlight(mlir::func::FuncOp function,
                                      const AliasClasses &classes);

} // namespace dtc

#endif // DTC_MEMORY_MEMORYPLAN_H
