//===- RecordedProgram.h - a graph with the calls it comes from -*- C++ -*-===//
//
// A graph of PyTorch's dynamo exporter: each node with the call of torch.export
// that it is part of, and what the exporter says of the tensors that it
// computed:
//
//   value: folded_from ['fc.weight', 'val_0']
//
// The record is read once and does not change; rules edit the graph beside it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_RECORDEDPROGRAM_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_RECORDEDPROGRAM_H

#include "Exporters/Dynamo/RecordedCall.h"
#include "Exporters/Dynamo/RecordedTensors.h"
#include "Exporters/GraphEditor.h"
#include "Support/TensorData.h"

#include "llvm/ADT/MapVector.h"

namespace dtc::frontend {

class RecordedProgram : public GraphEditor {
public:
  RecordedProgram(onnx::GraphProto &graph, const RecordedTensors &tensors,
                  TensorReader &reader);

  /// The tensors of the state dict.
  const RecordedTensors &record;
  TensorReader &reader;

  const NodeRecord &origin(int index) const { return origins[index]; }
  /// The parameters and buffers that a call names.
  llvm::SmallVector<const Origin *> findTensors(const RecordedCall &call) const;
  /// The nodes of each call, by its result.
  llvm::MapVector<llvm::StringRef, llvm::SmallVector<int>> findCalls() const;

  /// Whether the graph computes or has as an input what a call results in.
  bool hasValue(llvm::StringRef value) const { return values.contains(value); }
  /// Whether a value is no result of a node, no input and no tensor of the
  /// state dict. Parts that a call gives several of have names of their own.
  bool isGone(llvm::StringRef value) const;
  /// Values that stand for the results of several equal calls, of which the
  /// exporter kept one, each with another of these results: a call that reads
  /// the value names that result, and the graph lacks it.
  ///
  ///   Mul(relu, relu)                  %mul = mul(%relu, %relu_1)
  std::vector<std::pair<llvm::StringRef, llvm::StringRef>> findMerged() const;
  /// The values that calls name.
  const llvm::StringSet<> &getNamed() const { return named; }
  /// Whether a call names a tensor of the state dict, or reads it and names no
  /// other there, or nothing reads it.
  bool isUsed(llvm::StringRef name) const { return used.contains(name); }

  /// The names from which the exporter says that it computed a tensor, which
  /// are tensors of the state dict, and calls and numbers on the way; null if
  /// it does not say that.
  const std::vector<std::string> *findSteps(llvm::StringRef tensor) const;
  /// Those that are the model's.
  llvm::SmallVector<const Origin *> findSources(llvm::StringRef tensor) const;

  /// The elements of a tensor of floats; nothing without data. That a tensor
  /// cannot be read is an error when parameters are read.
  std::optional<TensorData> readFloats(const onnx::TensorProto *tensor) const;
  /// The first dimension of the first input, or 0 if that is dynamic.
  int64_t batch() const;

  /// The name of a later call of this kind that none has or reads yet.
  std::string makeCallName(llvm::StringRef call);

private:
  void findUses();
  void addUses(const onnx::NodeProto &node, const NodeRecord &origin);

  std::vector<NodeRecord> origins;
  llvm::StringSet<> values, used;
  llvm::StringSet<> named; ///< by calls
  llvm::StringMap<std::vector<std::string>> steps;
};

/// Puts modules into the name of a node, as the older exporter does:
/// "/model/layers.0/self_attn/node_linear_1".
void nameByModule(onnx::NodeProto &node);

/// PyTorch's exporter calls results after operators, such as `t`, and leaves a
/// parameter of that name out of the file where it computes with it. Gives such
/// results, computed by nodes or by the exporter, the names of later calls, in
/// the record, too: the parameter may come back.
void renameResults(onnx::GraphProto &graph, const RecordedTensors &tensors);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_RECORDEDPROGRAM_H
