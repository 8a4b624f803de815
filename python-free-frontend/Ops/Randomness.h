//===- Randomness.h - what the random nodes of a model share ----*- C++ -*-===//
//
// Seed and step, which become inputs of the model that the training program
// fills; the number of each random op; and which dropout is on.
//
// Since opset 12 a Dropout says whether it is in training mode. One that
// leaves it out follows the others: PyTorch's exporters leave it out in
// attention. Before opset 12 no Dropout says, and none is on.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_RANDOMNESS_H
#define DTC_FRONTEND_OPS_RANDOMNESS_H

#include "Shapes/Call.h"
#include "Support/TensorData.h"

#include "dtc/Dialect/Dialect.h"
#include "dtc/Frontend/Import.h"

#include <functional>
#include <set>

namespace dtc::frontend {

class Randomness {
public:
  /// Adds an input of a kind that the program fills.
  using AddInput =
      std::function<mlir::Value(llvm::StringRef kind, mlir::Type type)>;

  Randomness(mlir::MLIRContext &context, const ImportOptions &options,
             AddInput addInput)
      : context(context), options(options), addInput(std::move(addInput)) {}

  /// Reads which Dropout nodes say that they are in training mode.
  void readModes(const onnx::GraphProto &graph, TensorReader &reader);

  /// Scalars that are made when they are first asked for.
  mlir::Value getSeed();
  mlir::Value getStep();
  /// The number of the next random op.
  int64_t takeId() { return nextId++; }

  /// The probability with which a Dropout node of this name zeroes elements.
  llvm::Expected<double> getProbability(const Call &call, llvm::StringRef name);
  /// Whether dropout that is made of other nodes is on.
  bool hasDropout() const { return !options.noDropout; }

  /// What the user should know, or has asked for in vain.
  void report(ImportReport &report) const;

private:
  mlir::MLIRContext &context;
  const ImportOptions &options;
  AddInput addInput;
  mlir::Value seed, step;
  int64_t nextId = 0;
  /// Whether any Dropout says that it is in training mode.
  bool anyTrains = false;
  /// All Dropout nodes, those that do nothing although they have a ratio, and
  /// those that are on because others are.
  std::vector<std::string> all, idle, assumed;
  std::set<std::string> usedGlobs;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_RANDOMNESS_H
