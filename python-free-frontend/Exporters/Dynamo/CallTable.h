//===- CallTable.h - PyTorch's operators and what they do -------*- C++ -*-===//
//
// All that is known of operators by name is one table, in CallTable.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_CALLTABLE_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_CALLTABLE_H

#include "Exporters/Dynamo/RecordedCall.h"

namespace dtc::frontend {

enum class CallKind {
  Create,   ///< makes a tensor of numbers
  Triangle, ///< a part of a matrix, mostly of one that was created
  Copy,     ///< the same elements in the same shape
  Reshape,  ///< the same elements in the same order
  Repeat,   ///< the same elements several times
  Permute,  ///< the same elements in another order
  Select,   ///< some of the elements
  Part,     ///< one of several results
  Lookup,   ///< rows of a table
  Layer,    ///< has a weight
  Dropout,
  BatchNorm, ///< a layer with the statistics of the batch
  Scale,     ///< a sum or product, the exporter drops one that changes nothing
  Compare,
  Other,
};

/// By the operator's name, or a result's: "linear", "linear_1".
CallKind getKind(llvm::StringRef name);
/// Whether a call only moves elements, or changes their type.
bool isMove(llvm::StringRef name);
/// Whether a call makes a tensor of numbers.
bool isCreation(llvm::StringRef name);
/// Whether a call has a weight, or may be part of a dropout.
bool isLayerOrDropout(llvm::StringRef name);

/// The argument of `call` that an operand of a node holds when the node is part
/// of what `call` became, as far as operator and call say; nothing otherwise.
std::optional<unsigned> findArgument(const RecordedCall &call,
                                     const onnx::NodeProto &node, int operand);

/// The value that this argument names: of a list, that at the operand's place.
std::optional<llvm::StringRef>
findValue(const RecordedCall &call, const onnx::NodeProto &node, int operand);

/// The value that is the bias of a product or convolution; "" without one.
llvm::StringRef findBias(const RecordedCall &call);
/// Whether the call is a product or convolution that may have a bias.
bool mayHaveBias(const RecordedCall &call);

/// How PyTorch holds the tensor that an operand computed from it holds.
enum class Holding { Same, Transposed, Vector };
Holding findHolding(const RecordedCall &call, const onnx::NodeProto &node,
                    int operand, int rank);

/// Returns the factor of one operand of the call, such as that of y in
/// add(x, y, alpha=0.5); nothing if there is none.
std::optional<double> findScale(const RecordedCall &call);

/// Whether the call normalises by batch statistics.
bool isBatchNorm(const RecordedCall &call);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_CALLTABLE_H
