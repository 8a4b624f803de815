//===- Call.h - one node and its operands -----------------------*- C++ -*-===//
//
// A node with all that is known of its operands. The evaluator knows the values
// of all operands, the importer those of some. Both use the same shape rules.
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

/// The kinds of values. The evaluator computes constants, an operator's import
/// rule builds ops on tensors, and its selection rule (FollowSelection.h)
/// handles the elements that a mask selects.
enum class ValueKind {
  Absent,   ///< optional operand that is left out
  Sequence, ///< list of tensors, which exists only at import
  Constant, ///< elements are known at import
  Tensor,   ///< elements are known at run time
  Masked,   ///< elements that a mask selects
  Count,    ///< shape that contains the number of selected elements
};

struct Operand {
  /// False if an optional operand is left out, or if it is a sequence.
  bool present = false;
  bool isSequence = false;
  DType dtype = DType::F32;
  Shape shape;
  /// The values, if they are known at import; else null.
  const HostTensor *constant = nullptr;
  bool isParameter = false;
  /// Set if the kind is Masked or Count.
  std::optional<Selection> selection = {};

  ValueKind kind() const {
    if (!present)
      return isSequence ? ValueKind::Sequence : ValueKind::Absent;
    if (selection)
      return selection->isCount ? ValueKind::Count : ValueKind::Masked;
    return constant ? ValueKind::Constant : ValueKind::Tensor;
  }
};

/// A use of an ONNX operator.
class Call {
public:
  Call(const onnx::NodeProto &node, int64_t opset, DType floatType)
      : node(node), opset(opset), floatType(floatType) {}

  const onnx::NodeProto &node;
  /// Version of the operator set.
  int64_t opset;
  /// The frontend's type for ONNX's FLOAT: F32, or F64 in an import in double
  /// precision.
  DType floatType;
  llvm::SmallVector<Operand, 4> operands;

  /// Whether operand `i` exists and is of this kind.
  bool is(unsigned i, ValueKind kind) const {
    return i < operands.size() && operands[i].kind() == kind;
  }
  /// Whether an operand is of kind Masked or Count.
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
  /// The value of operand `i`. An error, which calls the operand `what`, if it
  /// is missing or not known at import.
  llvm::Expected<const HostTensor *> constant(unsigned i,
                                              llvm::StringRef what) const;
  /// Errors if one of these operands exists and has not exactly one element.
  llvm::Error requireScalars(llvm::ArrayRef<unsigned> positions) const;

  /// Errors if the operands have different element types.
  llvm::Error requireSameTypes() const;

  /// Attributes of the node; null, `otherwise` or nothing if the node lacks it.
  const onnx::AttributeProto *attribute(llvm::StringRef name) const;
  int64_t getInt(llvm::StringRef name, int64_t otherwise) const;
  double getFloat(llvm::StringRef name, double otherwise) const;
  llvm::StringRef getString(llvm::StringRef name,
                            llvm::StringRef otherwise) const;
  std::optional<std::vector<int64_t>> getInts(llvm::StringRef name) const;

  /// Integers that are attribute `name` in older opsets and operand `i` in
  /// newer ones. Nothing if the node has neither.
  llvm::Expected<std::optional<std::vector<int64_t>>>
  getIntsOrOperand(llvm::StringRef name, unsigned i) const;
  /// The element type that attribute `name` states, else `otherwise`.
  llvm::Expected<DType> getDType(llvm::StringRef name, DType otherwise) const;
  /// An integer type that has fewer bits than its DType. Its arithmetic wraps
  /// around.
  struct Narrow {
    int64_t bits;
    bool isSigned;
  };
  /// The type that attribute `name` states, if it is a narrow integer type.
  std::optional<Narrow> getNarrow(llvm::StringRef name) const;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SHAPES_CALL_H
