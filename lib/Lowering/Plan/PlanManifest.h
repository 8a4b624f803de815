//===- PlanManifest.h - what the runtime is told about plans ----*- C++ -*-===//
//
// Collects, while plans are lowered, the part of the manifest that follows
// from them (include/dtc/Runtime/ABI.h has the schema).
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

  /// The index of a set of axes that a collective runs over.
  int32_t getGroup(mlir::ArrayAttr axes);
  /// The index of a permutation of the members of a group.
  int32_t getPermutation(llvm::ArrayRef<int64_t> sources);
  /// The index of a phase: the name of a stage's function.
  int32_t getPhase(mlir::func::FuncOp function);
  /// Adds a launch or a library call; returns its index.
  int32_t addOp(mlir::Operation *op);

  /// Adds one stage: its plan, the arena's size, and the arena offsets of the
  /// plan's arguments and results.
  mlir::LogicalResult addStage(mlir::func::FuncOp plan, int64_t arenaBytes,
                               llvm::ArrayRef<int64_t> arguments,
                               llvm::ArrayRef<int64_t> results);

  /// Adds an evaluation's plan to its stage, which has been added: the arena
  /// offsets of its results.
  mlir::LogicalResult addEval(mlir::func::FuncOp plan,
                              llvm::ArrayRef<int64_t> results);

  llvm::json::Object finish();

private:
  /// Position of an input or parameter in the manifest's list of them.
  int64_t addInput(mlir::func::FuncOp plan, unsigned argument);
  int64_t addParameter(llvm::StringRef name, mlir::Type type,
                       mlir::DictionaryAttr part, bool isTrained);
  /// Describes the model's output, which a stage records.
  void addRecord(mlir::DictionaryAttr entry, int64_t stage);

  llvm::SmallVector<mlir::ArrayAttr> groups;
  std::vector<std::vector<int64_t>> permutations;
  llvm::SmallVector<std::string> phases;
  llvm::SmallVector<mlir::StringAttr> batchAxes; ///< split inputs, major first
  llvm::MapVector<llvm::StringRef, llvm::json::Object> inputs, parameters;
  llvm::json::Array ops, stages, evalSums;
  std::optional<llvm::json::Object> record;
  bool isLanguageModel = false, mixesSamples = false;
  MeshAttr mesh;
  int64_t modelFlops = 0; ///< 0: not known
};

} // namespace dtc

#endif // DTC_LIB_LOWERING_PLAN_PLANMANIFEST_H
