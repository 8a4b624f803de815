//===- Propagation.h - layouts of one op after the other --------*- C++ -*-===//
//
// Gives values layouts in program order, by the ops' sharding rules.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_PROPAGATION_PROPAGATION_H
#define DTC_PROPAGATION_PROPAGATION_H

#include "dtc/Propagation/SingleMicrobatch.h"
#include "dtc/Propagation/SplitExpansion.h"

namespace dtc {

/// Fits the operands of one op to its sharding rule and gives its results
/// layouts.
class Propagation {
public:
  Propagation(mlir::func::FuncOp step, MeshAttr mesh,
              bool replicasAtLaunch = false)
      : step(step), mesh(mesh), replicasAtLaunch(replicasAtLaunch),
        workers(findWorkers(step, mesh)), hasServer(findPushed(step)),
        single(step, mesh) {}

  /// Marks a value that depends on no input, such as a parameter: its layout is
  /// the one that it is stored in.
  void addStored(mlir::Value value) { stored.insert(value); }

  mlir::LogicalResult propagate(mlir::Operation *op);

  /// Returns the value in a layout, by a reshard if needed.
  mlir::Value reshard(mlir::Value value, LayoutAttr layout,
                      mlir::OpBuilder &builder, mlir::Location location);

private:
  mlir::Value makeResharded(mlir::Value value, LayoutAttr layout,
                            mlir::OpBuilder &builder, mlir::Location location);
  mlir::LogicalResult infer(mlir::Operation *op);
  static mlir::StringAttr findWorkers(mlir::func::FuncOp step, MeshAttr mesh);
  static bool findPushed(mlir::func::FuncOp step);
  void drawApart(mlir::Operation *op,
                 llvm::MutableArrayRef<LayoutAttr> layouts) const;
  bool isOfEach(LayoutAttr layout) const;
  mlir::Value giveAll(mlir::Value value, LayoutAttr layout,
                      mlir::OpBuilder &builder, mlir::Location location);
  mlir::LogicalResult propagateTerms(TermsOp op);
  mlir::LogicalResult propagateOwnRow(OwnRowOp op);
  mlir::LogicalResult propagatePermutation(PermuteRowsOp op);
  mlir::LogicalResult propagatePushed(PushedOp op);
  void fitTime(mlir::Operation *op);
  LayoutAttr keepTime(mlir::Value value, LayoutAttr own, LayoutAttr layout);
  LayoutAttr getRepeated(BroadcastOp repeat, LayoutAttr layout) const;
  bool canRepeat(mlir::Value value, LayoutAttr layout);
  LayoutAttr cutByBatch(LayoutAttr own, LayoutAttr layout) const;
  bool isCutByBatch(mlir::Value value, LayoutAttr layout) const;
  mlir::Value repeat(ConstantOp constant, LayoutAttr layout,
                     mlir::OpBuilder &builder);
  mlir::Value remake(mlir::Value value, LayoutAttr layout,
                     mlir::OpBuilder &builder, mlir::Location location);
  bool isDrawn(mlir::Operation *op) const;
  mlir::Value draw(mlir::Value value, LayoutAttr layout,
                   mlir::OpBuilder &builder, mlir::Location location);
  mlir::Value drawNumbers(RandomUniformOp op, LayoutAttr layout,
                          mlir::OpBuilder &builder);
  mlir::Value getParts(mlir::StringAttr axis, mlir::OpBuilder &builder,
                       mlir::Location location);
  mlir::Value getNumbers(mlir::StringAttr axis, llvm::StringRef kind);
  mlir::Value getReplicas();
  mlir::Value addInput(llvm::StringRef kind, mlir::Type type);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  expandIfSplit(SplitExpansionInterface op);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  expand(SplitExpansionInterface op, llvm::ArrayRef<mlir::StringAttr> axes,
         int64_t size);
  void place(mlir::Value value, mlir::DictionaryAttr split, bool perMicrobatch);
  void moveSplit(mlir::Operation *op, mlir::OpOperand &operand,
                 mlir::StringAttr axis, int64_t dim);
  mlir::LogicalResult propagateToSlots(mlir::Operation *op,
                                       mlir::StringAttr axis);
  mlir::LogicalResult makePartial(mlir::Operation *op);
  llvm::SmallVector<LayoutAttr> fitPartials(mlir::Operation *op,
                                            const ShardingRule &rule);
  LayoutAttr addSplit(mlir::RankedTensorType type, LayoutAttr layout,
                      mlir::StringAttr axis, int64_t dim);
  LayoutAttr reduce(mlir::Value value, LayoutAttr layout,
                    mlir::StringAttr axis);
  FactorAxes chooseAxes(mlir::Operation *op, const ShardingRule &rule,
                        llvm::ArrayRef<LayoutAttr> operands);
  std::optional<int64_t> getWantedDim(mlir::Value value, mlir::StringAttr axis,
                                      unsigned depth = 0);
  mlir::LogicalResult propagateNew(mlir::Operation *before,
                                   mlir::Operation *op);

  mlir::func::FuncOp step;
  MeshAttr mesh;
  /// Whether the size of dp is known only at launch.
  bool replicasAtLaunch;
  /// The axis whose positions have parameters of their own; null if none has.
  mlir::StringAttr workers;
  /// Whether a server decides which share of the batch a worker computes.
  bool hasServer;
  SingleMicrobatch single;
  llvm::DenseMap<std::pair<mlir::Value, LayoutAttr>, mlir::Value> resharded;
  llvm::DenseSet<mlir::Value> stored;
  /// Reduced versions of values of a micro-batch.
  llvm::DenseMap<mlir::Value, mlir::Value> reduced;
  /// Random numbers, and values computed from them and constants alone.
  llvm::DenseSet<mlir::Value> drawn;
  /// Inputs with the numbers of micro-batches or replicas, by kind.
  llvm::StringMap<mlir::Value> numbers;
};

} // namespace dtc

#endif // DTC_PROPAGATION_PROPAGATION_H
