//===- Randomness.h - shared state of random nodes --------------*- C++ -*-===//
//
// Seed and step, which become inputs that the training program fills; the
// number of each random op; and the mode of Dropout nodes.
//
// Since opset 12 a Dropout has an operand for its training mode. PyTorch's
// exporters leave it out in attention, so a Dropout without it follows the
// others. Before opset 12 no Dropout has the operand, and all are off.
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

/// The random nodes of a model.
class Randomness {
public:
  /// Adds an input to @forward that the program fills.
  using AddInput =
      std::function<mlir::Value(llvm::StringRef kind, mlir::Type type)>;

  Randomness(mlir::MLIRContext &context, const ImportOptions &options,
             AddInput addInput)
      : context(context), options(options), addInput(std::move(addInput)) {}

  /// Finds the Dropout nodes that state training mode.
  void readModes(const onnx::GraphProto &graph, TensorReader &reader);

  /// Scalars. The first call adds the input.
  mlir::Value getSeed();
  mlir::Value getStep();
  /// Returns the number of the next random op.
  int64_t takeId() { return nextId++; }

  /// The probability with which a Dropout node zeroes elements. `name`: name of
  /// the node in messages. An error if its ratio is not from 0 to 1.
  llvm::Expected<double> getProbability(const Call &call, llvm::StringRef name);
  /// Whether dropout is on that is written as several nodes.
  bool hasDropout() const { return !options.noDropout; }

  /// Reports Dropout nodes that are off, and --dropout options without effect.
  void report(ImportReport &report) const;

private:
  mlir::MLIRContext &context;
  const ImportOptions &options;
  AddInput addInput;
  mlir::Value seed, step;
  int64_t nextId = 0;
  /// Whether any Dropout states training mode.
  bool anyTrains = false;
  /// Names of all Dropout nodes, of those that have a ratio but are off, and of
  /// those that are on because others are.
  std::vector<std::string> all, idle, assumed;
  std::set<std::string> usedGlobs;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_RANDOMNESS_H
