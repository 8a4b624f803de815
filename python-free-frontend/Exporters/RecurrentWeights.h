//===- RecurrentWeights.h - weights of recurrent layers ------- -*- C++ -*-===//
//
// ONNX has one operand for the weights of all gates and directions, and its own
// order of gates. PyTorch's exporters compute this operand from the parameters.
// This class restores the parameters, and adds nodes that compute the operands
// from them: they reorder gates and concatenate directions and biases.
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
  /// `index`: index of the node. `copies`: initializers by the names of their
  /// copies.
  RecurrentWeights(GraphEditor &graph, TensorReader &reader,
                   const llvm::StringMap<std::string> &copies, int index);

  /// Whether all operands can belong to one layer. Operands that are in the
  /// record, or that the graph already computes, do not change.
  bool readOperands(const TensorRecord &record);
  /// The initializers that hold W, R and B.
  llvm::ArrayRef<std::string> getSources() const { return sources; }

  int64_t getNumDirections() const { return directions; }
  /// Adds a parameter to operand 0, 1 or 2: W, R or B.
  void addParameter(unsigned operand, std::string name) {
    parameters[operand].push_back(std::move(name));
  }
  /// Adds all parameters, with the names that PyTorch gives them in a module.
  void nameParameters(llvm::StringRef module, int layer);
  /// Replaces the operands by computations from the parameters. Appends the
  /// names of new parameters, and warnings about parameters that have another
  /// shape in the file.
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
  /// Names of W, R and B. `operands` holds their data if the exporter computed
  /// them.
  std::array<std::string, 3> sources;
  std::array<std::optional<TensorData>, 3> operands;
  /// The parameters of each operand. B has none if the layer has no biases.
  std::array<llvm::SmallVector<std::string>, 3> parameters;
};
/// Adds a note that lists the restored parameters.
void describeRecurrent(llvm::ArrayRef<std::string> names,
                       std::vector<std::string> &notes);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_RECURRENTWEIGHTS_H
