//===- Operators.h - the ONNX operators that dtc imports --------*- C++ -*-===//
//
// One row per operator: since which opset, how many operands, which attributes
// and the rule that builds dtc ops.
//
// Ops/ has a file for each family of operators. In: a node and the IR values of
// its operands. Out: dtc ops. May include Evaluate/, Shapes/, File/ and
// Support/, and nothing of Exporters/.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_OPS_OPERATORS_H
#define DTC_FRONTEND_OPS_OPERATORS_H

#include "Ops/NodeBuilder.h"

#include "llvm/ADT/StringMap.h"

namespace dtc::frontend {

/// Builds the dtc ops of a node whose operands are not all known.
using ImportRule = llvm::Error (*)(NodeBuilder &);

constexpr int any = -1;
/// As many as one likes, any of which may be left out.
constexpr int many = 1 << 20;
inline constexpr int first[] = {0}, firstTwo[] = {0, 1}, second[] = {1},
                     third[] = {2};
inline constexpr int afterFirst[] = {1, 2, 3, 4};

struct Operator {
  llvm::StringRef name;
  /// First opset with this operator.
  int since;
  int minOperands;
  /// `any` for operators with a list of operands.
  int maxOperands;
  /// All attributes of all opsets, separated by spaces.
  llvm::StringRef attributes;
  /// Null for operators that are only computed at import.
  ImportRule rule = nullptr;
  /// Operands through which no gradient passes: those that are settings, and
  /// those of results that are integers. A weight there is a constant.
  llvm::ArrayRef<int> noGradient = {};
  /// Whether an element of the result is made of those at its own place.
  bool isElementwise = false;
};

class OperatorTable {
public:
  OperatorTable();
  /// Null when the operator is not supported.
  const Operator *find(llvm::StringRef name) const;
  /// Errors unless dtc knows the operator of `node` and its use is well formed.
  llvm::Error check(const onnx::NodeProto &node, int64_t opset) const;

  void add(llvm::ArrayRef<Operator> operators);
  void addElementwise(llvm::ArrayRef<Operator> operators);

private:
  llvm::StringMap<Operator> table;
};

/// Each file of Ops adds the operators of its family.
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

/// A Bernoulli variable that is written as a comparison of random numbers with
/// a constant, cast to a float; null if it is none.
mlir::Value readBernoulli(NodeBuilder &node, mlir::Value condition,
                          DType dtype);
/// One that is written as the floor of a sum of random numbers and a constant.
mlir::Value readBernoulli(NodeBuilder &node, mlir::Value sum);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_OPS_OPERATORS_H
