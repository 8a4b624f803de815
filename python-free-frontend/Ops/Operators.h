//===- Operators.h - the ONNX operators that dtc imports --------*- C++ -*-===//
//
// One row for each operator: its first opset, number of operands, attributes,
// and the rule that builds dtc ops.
//
// Ops/ has a file for each family of operators. In: a node and the IR values of
// its operands. Out: dtc ops. May include Evaluate/, Shapes/, File/ and
// Support/, but not Exporters/.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_OPERATORS_H
#define DTC_FRONTEND_OPS_OPERATORS_H

#include "Ops/NodeBuilder.h"

#include "llvm/ADT/StringMap.h"

namespace dtc::frontend {

/// Builds the dtc ops of a node that has an operand not known at import.
using ImportRule = llvm::Error (*)(NodeBuilder &);

/// Any number of operands, all present.
constexpr int any = -1;
/// Any number of operands, each of them optional.
constexpr int many = 1 << 20;
inline constexpr int first[] = {0}, firstTwo[] = {0, 1}, second[] = {1},
                     third[] = {2};
inline constexpr int afterFirst[] = {1, 2, 3, 4};

/// A row of the table.
struct Operator {
  llvm::StringRef name;
  /// First opset that has this operator.
  int since;
  int minOperands;
  /// Largest number of operands, `any` or `many`.
  int maxOperands;
  /// Attributes of all opsets, separated by spaces.
  llvm::StringRef attributes;
  /// Null if the operator is only computed at import.
  ImportRule rule = nullptr;
  /// Operands that get no gradient: settings, and operands of results that are
  /// integers. A weight there is a constant.
  llvm::ArrayRef<int> noGradient = {};
  /// Whether each element of the result depends only on the operands' elements
  /// at the same place.
  bool isElementwise = false;
};

/// The operators that dtc imports, by name.
class OperatorTable {
public:
  OperatorTable();
  /// Null if the operator is not supported.
  const Operator *find(llvm::StringRef name) const;
  /// Errors if dtc does not know the operator of `node`, or if operands or
  /// attributes do not match its row.
  llvm::Error check(const onnx::NodeProto &node, int64_t opset) const;

  void add(llvm::ArrayRef<Operator> operators);
  void addElementwise(llvm::ArrayRef<Operator> operators);

private:
  llvm::StringMap<Operator> table;
};

/// Each file of Ops/ adds the operators of its family.
void addActivationOperators(OperatorTable &table);
void addAttentionOperators(OperatorTable &table);
void addComposedNormOperators(OperatorTable &table);
void addConvolutionOperators(OperatorTable &table);
void addCoordinateOperators(OperatorTable &table);
void addDeformConvOperators(OperatorTable &table);
void addEinsumOperators(OperatorTable &table);
void addElementwiseOperators(OperatorTable &table);
void addGridSampleOperators(OperatorTable &table);
void addIndexingOperators(OperatorTable &table);
void addLossOperators(OperatorTable &table);
void addMatMulOperators(OperatorTable &table);
void addNormalizationOperators(OperatorTable &table);
void addOrderingOperators(OperatorTable &table);
void addPoolingOperators(OperatorTable &table);
void addRandomOperators(OperatorTable &table);
void addRecurrentOperators(OperatorTable &table);
void addReductionOperators(OperatorTable &table);
void addResizeOperators(OperatorTable &table);
void addSequenceOperators(OperatorTable &table);
void addShapeOperators(OperatorTable &table);
void addSpectrumOperators(OperatorTable &table);

/// Recognizes a Bernoulli variable that is written as a comparison of random
/// numbers with a constant, cast to a float. Null for other operands.
mlir::Value readBernoulli(NodeBuilder &node, mlir::Value condition,
                          DType dtype);
/// Recognizes one that is written as floor(random numbers + constant).
mlir::Value readBernoulli(NodeBuilder &node, mlir::Value sum);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_OPERATORS_H
