//===- MemoryPlan.h - attributes of the memory plan -------------*- C++ -*-===//
//
// The attributes that PlanMemory writes, and lookups for the passes that read
// them.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_MEMORY_MEMORYPLAN_H
#define DTC_MEMORY_MEMORYPLAN_H

#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/Skeleton.h"

namespace dtc {

namespace attr {
/// Op: byte offset of each result in the frame of its function, or in the arena
/// if the function is a plan; `callersMemory` for values outside.
constexpr llvm::StringLiteral offsets = "dtc.offsets";
/// Plan argument: byte offset in the arena; from `hostMemory` on, in host
/// memory.
constexpr llvm::StringLiteral offset = "dtc.offset";
/// Function: size of its frame in bytes.
constexpr llvm::StringLiteral frameBytes = "dtc.frame_bytes";
/// Run: byte offset of the callee's frame in the arena.
constexpr llvm::StringLiteral frameOffset = "dtc.frame_offset";
/// Plan: size of the arena in bytes.
constexpr llvm::StringLiteral arenaBytes = "dtc.arena_bytes";
/// Plan: bytes of host memory that it uses beside the arena, if any.
constexpr llvm::StringLiteral hostBytes = "dtc.host_bytes";
/// Launch: poison the kernel's scratch memory before it runs.
constexpr llvm::StringLiteral poisonScratch = "dtc.poison_scratch";
} // namespace attr

/// The offset of a value outside the frame and the arena; see MemoryHomes.
constexpr int64_t callersMemory = -1;

/// The first offset in host memory, where the plan of a GPU may keep arguments.
constexpr int64_t hostMemory = DTC_HOST_MEMORY;
inline bool isInHostMemory(int64_t offset) { return offset >= hostMemory; }

/// Bytes of host memory that a plan uses (`dtc.host_bytes`).
int64_t getHostBytes(mlir::func::FuncOp plan);
/// Arguments in host memory, of a plan and of the functions that it runs.
llvm::DenseSet<mlir::Value> getHostArguments(mlir::func::FuncOp plan);

/// The memory that holds a value's buffer.
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

/// The memory of each value of a function. In a plan, arguments and results lie
/// in the arena, so every value is Local.
class MemoryHomes {
public:
  MemoryHomes(mlir::func::FuncOp function, const AliasClasses &classes);
  MemoryHome get(mlir::Value value) const;

private:
  bool isPlan;
  const AliasClasses &classes;
  llvm::DenseMap<mlir::Value, unsigned> results; ///< by root
};

/// Finds arguments of a plan by their meaning.
class PlanArguments {
public:
  explicit PlanArguments(mlir::func::FuncOp plan);
  /// The argument with the same input, parameter or state as an argument of
  /// another plan; null if there is none.
  mlir::BlockArgument find(mlir::BlockArgument other) const;

private:
  /// The meaning of an argument: the name and value of an attribute.
  using Meaning = std::pair<llvm::StringRef, mlir::Attribute>;
  static Meaning getMeaning(mlir::BlockArgument argument);
  llvm::DenseMap<Meaning, mlir::BlockArgument> arguments;
};

/// The planned offset of a plan's argument or an op's result; none if it lies
/// in the caller's memory.
std::optional<int64_t> getPlannedOffset(mlir::Value value);

/// Plan arguments whose new value has its own buffer, by that value.
llvm::DenseMap<mlir::Value, mlir::BlockArgument>
getReplacedArguments(mlir::func::FuncOp plan, const AliasClasses &classes);

/// Bytes of the contiguous range that holds the operands of a collective, each
/// one aligned.
int64_t getBucketBytes(mlir::ValueRange operands);

/// Bytes of the larger of a rank's two buffers of a collective, its operands or
/// results. Reports and traces count these bytes.
int64_t getWholeBytes(CollectiveOpInterface op);

/// Bytes of the frame that a run needs; 0 before memory is planned.
int64_t getFrameBytes(RunOp run);

/// The operands of collectives that must be adjacent in memory: roots of their
/// buffers, in order. A run has the operands of its callee's collectives. Fails
/// if a collective's operands lie partly in the function's frame.
mlir::FailureOr<std::vector<llvm::SmallVector<mlir::Value>>>
getAdjacentRoots(mlir::func::FuncOp function, const AliasClasses &classes,
                 const MemoryHomes &homes);

/// The buffers that transfers touch from start to wait, as roots.
struct InFlight {
  /// Buffers whose transfers each wait ends, in this function or a callee.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> endedBy;
  /// Arguments whose transfers the caller has started and this function ends.
  llvm::SmallVector<unsigned> awaited;
  /// Buffers with transfers that this function or a callee leaves in flight.
  struct Left {
    llvm::SmallVector<mlir::Value> made, touched;
  };
  std::vector<Left> left;
};

/// Fails if a transfer left to the caller touches the function's own frame.
mlir::FailureOr<InFlight> getInFlight(mlir::func::FuncOp function,
                                      const AliasClasses &classes);

} // namespace dtc

#endif // DTC_MEMORY_MEMORYPLAN_H
