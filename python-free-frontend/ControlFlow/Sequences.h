//===- Sequences.h - lists of tensors ---------------------------*- C++ -*-===//
//
// A sequence exists only at import: it is a list of names. Operators on
// sequences become nodes on the tensors that they read or write.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_CONTROLFLOW_SEQUENCES_H
#define DTC_FRONTEND_CONTROLFLOW_SEQUENCES_H

#include "Shapes/Call.h"

#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace dtc::frontend {

/// The sequences of a model, by name.
class Sequences {
public:
  /// Whether `node` reads or writes a sequence, and so becomes other nodes.
  bool handles(const onnx::NodeProto &node) const;
  bool contains(llvm::StringRef name) const { return lists.contains(name); }

  /// Returns the nodes that replace `call`. Operands that are sequences have
  /// `present` false.
  llvm::Expected<std::vector<onnx::NodeProto>> expand(const Call &call);

private:
  using Names = std::vector<std::string>;
  using Nodes = std::vector<onnx::NodeProto>;

  llvm::Error expandInto(const Call &call, Nodes &nodes);
  llvm::Error split(const Call &call, Nodes &nodes);
  llvm::Error concat(const Call &call, Nodes &nodes);
  llvm::Error at(const Call &call, Nodes &nodes);
  llvm::Error edit(const Call &call);
  /// Reads operand `i` as a position in a list of `size` elements.
  llvm::Expected<size_t> position(const Call &call, unsigned i, size_t size,
                                  int64_t otherwise) const;
  const Names &list(const Call &call) const;

  llvm::StringMap<Names> lists;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_CONTROLFLOW_SEQUENCES_H
