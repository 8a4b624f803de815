//===- PlanManifest.h - manifest of the plans for the runtime ---*- C++ -*-===//
//
// Collects the part of the manifest that follows from the plans, while these
// are lowered (include/dtc/Runtime/ABI.h has the schema).
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_LOWERING_PLAN_PLANMANIFEST_H
#define DTC_LIB_LOWERING_PLAN_PLANMANIFEST_H

#include "dtc/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/JSON.h"

namespace dtc {

class PlanManifest {
public:
  explicit PlanManifest(mlir::ModuleOp module);

  /// The index of the set of axes that a collective runs over. Adds it if it is
  /// new.
  int32_t getGroup(mlir::ArrayAttr axes);
  /// The index of a permutation of a group's members. Adds it if it is new.
  int32_t getPermutation(llvm::ArrayRef<int64_t> sources);
  /// The index of a stage function, which is a phase of the runtime's profile.
  int32_t getPhase(mlir::func::FuncOp function);
  /// Adds a launch or a library call; returns its index.
  int32_t addOp(mlir::Operation *op);

  /// Adds a stage with its plan, the size of its arena in bytes, and the arena
  /// offsets of the plan's arguments and results.
  mlir::LogicalResult addStage(mlir::func::FuncOp plan, int64_t arenaBytes,
                               llvm::ArrayRef<int64_t> arguments,
                               llvm::ArrayRef<int64_t> results);

  /// Adds an evaluation's plan to its stage, which must exist, with the arena
  /// offsets of the plan's results.
  mlir::LogicalResult addEval(mlir::func::FuncOp plan,
                              llvm::ArrayRef<int64_t> results);

  /// Adds a program that runs between steps.
  void addProgram(mlir::ModuleOp stage);

  llvm::json::Object finish();

private:
  /// The index of an input or parameter in the manifest.
  int64_t addInput(mlir::func::FuncOp plan, unsigned argument);
  int64_t addParameter(llvm::StringRef name, mlir::Type type,
                       mlir::DictionaryAttr part, bool isTrained);
  /// Describes the model's output that a stage records.
  void addRecord(mlir::DictionaryAttr entry, int64_t stage);

  llvm::SmallVector<mlir::ArrayAttr> groups;
  std::vector<std::vector<int64_t>> permutations;
  llvm::SmallVector<std::string> phases;
  llvm::SmallVector<mlir::StringAttr> batchAxes; ///< split inputs, major first
  llvm::MapVector<llvm::StringRef, llvm::json::Object> inputs, parameters;
  llvm::json::Array ops, stages, evalSums, programs;
  std::optional<llvm::json::Object> record;
  bool isLanguageModel = false, mixesSamples = false;
  MeshAttr mesh;
  mlir::StringAttr workers; ///< the axis of workers; null if there are none
  bool hasServer = false;   ///< at the first position of this axis
  int64_t modelFlops = 0;   ///< 0 if unknown
};

} // namespace dtc

#endif // DTC_LIB_LOWERING_PLAN_PLANMANIFEST_H
