//===- MergedValues.h - values that stand for several calls -----*- C++ -*-===//
//
// Of equal calls the exporter keeps one. A call that names a result which is
// gone shows the others:
//
//   %linear = linear(%x, %p_net_0_weight); %relu = relu(%linear)
//   %mul = mul(%relu, %relu_1)         // a node Mul(relu, relu)
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_MERGEDVALUES_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_MERGEDVALUES_H

#include "Exporters/Dynamo/RecordedProgram.h"

namespace dtc::frontend {

/// An operand may be the result of a call that the exporter merged with an
/// equal one. Returns the name that the node's call has for that result; "" if
/// the call names the operand itself, or if the name is not clear.
std::string findMergedCall(const RecordedProgram &program, int node,
                           int operand);

/// Values that calls name differently.
class MergedValues {
public:
  explicit MergedValues(const RecordedProgram &program);

  /// Returns the name that the call of a node has for an operand: the result of
  /// a call, or a part of it. "" if the call names the operand itself, or if
  /// the name is not clear.
  std::string find(int index, int operand) const;
  /// All such names of a value, in the order of calls.
  llvm::ArrayRef<std::string> getNames(llvm::StringRef value) const;
  /// The nodes of a call, by its result; none if no call has that result.
  llvm::ArrayRef<int> getNodes(llvm::StringRef call) const;
  /// The node that computes a value; nothing of inputs and tensors.
  std::optional<int> getProducer(llvm::StringRef value) const;

private:
  void dropOwnParts();

  const RecordedProgram &program;
  llvm::MapVector<llvm::StringRef, llvm::SmallVector<int>> nodes;
  llvm::StringMap<int> producers;
  llvm::StringMap<std::vector<std::string>> names;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_MERGEDVALUES_H
