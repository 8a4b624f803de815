//===- FxRoles.h - which argument of a call an operand is -------*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_FXROLES_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_FXROLES_H

#include "Exporters/Dynamo/FxCall.h"

namespace dtc::frontend {

/// The argument of `call` that an operand of a node holds when the node is part
/// of what `call` became, as far as operator and call say; nothing otherwise.
std::optional<unsigned> findArgument(const FxCall &call,
                                     const onnx::NodeProto &node, int operand);

/// The value that this argument names: of a list, that at the operand's place.
std::optional<llvm::StringRef>
findValue(const FxCall &call, const onnx::NodeProto &node, int operand);

/// The argument that is the bias of a product or convolution.
std::optional<unsigned> findBiasArgument(const FxCall &call);

/// How PyTorch holds the tensor that an operand computed from it holds.
enum class Holding { Same, Transposed, Vector };
Holding findHolding(const FxCall &call, const onnx::NodeProto &node,
                    int operand, int rank);

/// What the call multiplies one of its operands by, as add(x, y, alpha=0.5)
/// does y: nothing if it does not.
std::optional<double> findScale(const FxCall &call);

/// Whether the call normalises by batch statistics.
bool isBatchNorm(const FxCall &call);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_FXROLES_H
