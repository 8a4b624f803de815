//===- RecurrentWeights.h - weights of recurrent layers ------- -*- C++ -*-===//
//
// ONNX has one operand for the weights of all gates and directions, and its own
// order of gates; PyTorch's exporters compute it from the parameters. Here the
// parameters are there again, and the graph computes the operands from them:
// gates are put in order, and directions and biases joined.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_RECURRENTWEIGHTS_H
#define DTC_FRONTEND_EXPORTERS_RECURRENTWEIGHTS_H

#include "Exporters/GraphEditor.h"
#include "Exporters/TensorRecord.h"
#include "Support/TensorData.h"

#include <array>
#include <optional>

namespace dtc::frontend {

/// One layer: all directions of a node.
class RecurrentWeights {
public:
  /// `copies` has the initializers that other names stand for.
  RecurrentWeights(GraphEditor &graph, TensorReader &reader,
                   const llvm::StringMap<std::string> &copies, int index);

  /// Whether all of the operands can be those of a layer. Operands of the
  /// record, and those that the graph computes already, stay.
  bool readOperands(const TensorRecord &record);
  /// The initializers that hold the weights.
  llvm::ArrayRef<std::string> getSources() const { return sources; }

  int64_t getNumDirections() const { return directions; }
  /// Names a parameter that is joined to operand 0, 1 or 2: W, R or B.
  void addParameter(unsigned operand, std::string name) {
    parameters[operand].push_back(std::move(name));
  }
  /// Names parameters as PyTorch does in a module of this name.
  void nameParameters(llvm::StringRef module, int layer);
  /// Makes operands what the parameters are joined to. Appends the names of
  /// those that are new, and warnings of those that the file has in another
  /// shape.
  void restore(std::vector<std::string> &names,
               std::vector<std::string> &warnings);

private:
  bool fits(unsigned operand, std::vector<std::string> &warnings) const;
  llvm::SmallVector<int64_t> getDims(unsigned operand) const;
  void restoreOperand(unsigned operand, std::vector<std::string> &names);
  std::string orderGates(const std::string &parameter);
  void setInt(llvm::StringRef attribute, int64_t value);

  GraphEditor &graph;
  TensorReader &reader;
  int index;
  llvm::ArrayRef<int64_t> gates;
  int64_t directions = 1, hidden = 0;
  /// W, R and B, and what they hold where the exporter computed them.
  std::array<std::string, 3> sources;
  std::array<std::optional<TensorData>, 3> operands;
  /// Of each, the parameters that are joined: none of B without biases.
  std::array<llvm::SmallVector<std::string>, 3> parameters;
};
/// Says which parameters have been named.
void describeRecurrent(llvm::ArrayRef<std::string> names,
                       std::vector<std::string> &notes);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_RECURRENTWEIGHTS_H
