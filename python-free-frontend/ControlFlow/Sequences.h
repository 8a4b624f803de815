//===- Sequences.h - lists of tensors ---------------------------*- C++ -*-===//
//
// A sequence exists at import only: a list of names. Operators on sequences
// become nodes on the tensors that they take or give.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_CONTROLFLOW_SEQUENCES_H
#define DTC_FRONTEND_CONTROLFLOW_SEQUENCES_H

#include "Shapes/Call.h"

#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace dtc::frontend {

class Sequences {
public:
  /// Whether `node` takes or gives a sequence, and becomes others.
  bool handles(const onnx::NodeProto &node) const;
  bool contains(llvm::StringRef name) const { return lists.contains(name); }

  /// The nodes that `call` becomes. Operands that are sequences are not
  /// `present`.
  llvm::Expected<std::vector<onnx::NodeProto>> expand(const Call &call);

private:
  using Names = std::vector<std::string>;
  using Nodes = std::vector<onnx::NodeProto>;

  llvm::Error expandInto(const Call &call, Nodes &nodes);
  llvm::Error split(const Call &call, Nodes &nodes);
  llvm::Error concat(const Call &call, Nodes &nodes);
  llvm::Error at(const Call &call, Nodes &nodes);
  llvm::Error edit(const Call &call);
  /// Operand `i` as a position in a list of `size`.
  llvm::Expected<size_t> position(const Call &call, unsigned i, size_t size,
                                  int64_t otherwise) const;
  const Names &list(const Call &call) const;

  llvm::StringMap<Names> lists;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_CONTROLFLOW_SEQUENCES_H
