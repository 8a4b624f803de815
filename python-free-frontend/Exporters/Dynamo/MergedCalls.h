//===- MergedCalls.h - calls that the exporter merged -----------*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_MERGEDCALLS_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_MERGEDCALLS_H

#include "Exporters/Dynamo/FxGraph.h"

namespace dtc::frontend {

/// Values of a graph that calls name differently: of several calls that were
/// equal one is left.
class MergedCalls {
public:
  explicit MergedCalls(const FxGraph &graph);

  /// What the call of a node names in place of an operand: of a call, or of a
  /// part of its result; or what that operand is computed of, if it is an inner
  /// value of a call. "" if it names the operand, or it is not clear what.
  std::string find(int index, int operand) const;
  /// All such names of a value, in the order of calls.
  llvm::ArrayRef<std::string> getNames(llvm::StringRef value) const {
    auto it = names.find(value);
    if (it == names.end())
      return {};
    return it->second;
  }

  /// The nodes of a call, by its result; none if no call has that result.
  llvm::ArrayRef<int> getNodes(llvm::StringRef call) const {
    auto it = nodes.find(call);
    if (it == nodes.end())
      return {};
    return it->second;
  }
  /// The node that computes a value; nothing of inputs and tensors.
  std::optional<int> getProducer(llvm::StringRef value) const {
    auto it = producers.find(value);
    if (it == producers.end())
      return std::nullopt;
    return it->second;
  }

private:
  void dropOwnParts();
  std::string findArgument(const FxCall &call, const FxCall &other,
                           llvm::StringRef value) const;

  const FxGraph &graph;
  llvm::MapVector<llvm::StringRef, llvm::SmallVector<int>> nodes;
  llvm::StringMap<int> producers;
  llvm::StringMap<llvm::SmallVector<int>> readers;
  llvm::StringMap<std::vector<std::string>> names;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_MERGEDCALLS_H
