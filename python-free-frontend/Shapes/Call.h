//===- Call.h - one use of an ONNX operator ---------------------*- C++ -*-===//
//
// A node with what is known of its operands. The evaluator knows the values of
// all, the importer those of some; shape rules are written once for both.
//
// Shapes/ has ONNX's rules for shapes. In: a node and its operands. Out:
// shapes, ranges, windows, or an error. May include File/ and Support/.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_SHAPES_CALL_H
#define DTC_FRONTEND_SHAPES_CALL_H

#include "Shapes/Selection.h"
#include "Support/HostTensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"

#include <onnx/onnx_pb.h>

#include <optional>

namespace dtc::frontend {

/// The kinds of values. Each operator says which it takes: constants that the
/// evaluator computes with, tensors that its rule builds ops on, and what masks
/// select by its selection rule (FollowSelection.h).
enum class ValueKind {
  Absent,   ///< an optional operand that is left out
  Sequence, ///< a list of tensors, which exists at import only
  Constant, ///< its elements are known at import
  Tensor,   ///< its elements are known at run time
  Masked,   ///< the elements that a mask selects
  Count,    ///< a shape of which an element counts what a mask selects
};

struct Operand {
  /// False when an optional operand is left out, and of a sequence.
  bool present = false;
  bool isSequence = false;
  DType dtype = DType::F32;
  Shape shape;
  /// The values, when they are known at import.
  const HostTensor *constant = nullptr;
  bool isParameter = false;
  /// Of masked values and counts.
  std::optional<Selection> selection = {};

  ValueKind kind() const {
    if (!present)
      return isSequence ? ValueKind::Sequence : ValueKind::Absent;
    if (selection)
      return selection->isCount ? ValueKind::Count : ValueKind::Masked;
    return constant ? ValueKind::Constant : ValueKind::Tensor;
  }
};

class Call {
public:
  Call(const onnx::NodeProto &node, int64_t opset, DType floatType)
      : node(node), opset(opset), floatType(floatType) {}

  const onnx::NodeProto &node;
  /// Version of the operator set whose rules hold.
  int64_t opset;
  /// What ONNX's FLOAT is here: F32, or F64 to import in double precision.
  DType floatType;
  llvm::SmallVector<Operand, 4> operands;

  /// Whether operand `i` is there and of this kind.
  bool is(unsigned i, ValueKind kind) const {
    return i < operands.size() && operands[i].kind() == kind;
  }
  /// Whether any operand is masked, or a count.
  bool readsSelection() const {
    return llvm::any_of(operands, [](const Operand &operand) {
      return operand.selection.has_value();
    });
  }
  bool hasOperand(unsigned i) const {
    return i < operands.size() && operands[i].present;
  }
  llvm::ArrayRef<int64_t> shape(unsigned i) const { return operands[i].shape; }
  int64_t rank(unsigned i) const { return operands[i].shape.size(); }
  /// Operand `i`, which the operator calls `what`, must be known at import.
  llvm::Expected<const HostTensor *> constant(unsigned i,
                                              llvm::StringRef what) const;
  /// Operands that are there and known must have one element.
  llvm::Error requireScalars(llvm::ArrayRef<unsigned> positions) const;

  /// All operands must have one element type.
  llvm::Error requireSameTypes() const;

  const onnx::AttributeProto *attribute(llvm::StringRef name) const;
  int64_t getInt(llvm::StringRef name, int64_t otherwise) const;
  double getFloat(llvm::StringRef name, double otherwise) const;
  llvm::StringRef getString(llvm::StringRef name,
                            llvm::StringRef otherwise) const;
  std::optional<std::vector<int64_t>> getInts(llvm::StringRef name) const;

  /// Integers that older opsets give as attribute `name` and newer ones as
  /// operand `i`; nothing when neither is there.
  llvm::Expected<std::optional<std::vector<int64_t>>>
  getIntsOrOperand(llvm::StringRef name, unsigned i) const;
  /// The element type that attribute `name` states.
  llvm::Expected<DType> getDType(llvm::StringRef name, DType otherwise) const;
  /// Whole numbers of fewer bits than their DType has, in which numbers wrap
  /// around.
  struct Narrow {
    int64_t bits;
    bool isSigned;
  };
  /// The element type that attribute `name` states, if it is one of these.
  std::optional<Narrow> getNarrow(llvm::StringRef name) const;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SHAPES_CALL_H
