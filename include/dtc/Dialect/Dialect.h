//===- Dialect.h - the dtc dialect ------------------------------*- C++ -*-===//
//
// Ops, attributes and interfaces of the dtc dialect.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_DIALECT_H
#define DTC_DIALECT_DIALECT_H

#include "dtc/Dialect/ElementTypes.h"
#include "dtc/Dialect/Layout.h"
#include "dtc/Dialect/ShardingRule.h"
#include "dtc/Support/Collective.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

namespace dtc {

enum class AliasKind {
  View,   ///< the result is the operand's bytes
  Update, ///< the result overwrites the operand
};

/// A result's memory is that of an operand, from a byte offset on.
struct Alias {
  unsigned operand;
  AliasKind kind;
};

/// Where the window of a convolution or a pooling lies: its taps
/// (`kernelHeight` x `kernelWidth`) at each of its positions (`rows` x
/// `columns`) over images of `height` x `width`.
struct Window {
  int64_t batch, height, width, channels;
  int64_t rows, columns;
  int64_t kernelHeight, kernelWidth;
  int64_t strideHeight, strideWidth, top, left, dilationHeight, dilationWidth;
};

/// Sizes of an attention.
struct AttentionSizes {
  int64_t batch, queries, keys;
  int64_t heads;  ///< of queries
  int64_t groups; ///< of these heads, each with keys and values of its own
  int64_t width, valueWidth;
};

/// Trait of ops that are DTC_Product, see OpBase.td.
template <typename ConcreteType>
class Product : public mlir::OpTrait::TraitBase<ConcreteType, Product> {};

/// Attribute names with a meaning across phases.
namespace attr {
/// Argument of a step: the graph input it is.
constexpr llvm::StringLiteral input = "dtc.input";
/// Argument of a step: exclusive upper bounds of an integer input's values, one
/// for all or one for each element of a sample, 0 where there is none.
constexpr llvm::StringLiteral bound = "dtc.bound";
/// Argument of a step: a value outside the bound that labels may have.
constexpr llvm::StringLiteral ignore = "dtc.ignore_index";
/// Argument of a step: what an input is for: input or label, which are data, or
/// lr, step, seed, microbatch (the numbers of the step's micro-batches),
/// loss_scale or updates (StepFunction.h).
constexpr llvm::StringLiteral kind = "dtc.kind";
/// Argument or result of a step: the parameter it is.
constexpr llvm::StringLiteral parameter = "dtc.parameter";
/// Argument, of a parameter that is a part of a tensor of the model, which
/// files hold whole: {tensor, shape, dim, start}. What the parameter has beyond
/// the end of the tensor is padding, and zero.
constexpr llvm::StringLiteral part = "dtc.part";
/// Argument, of a parameter that is not trained.
constexpr llvm::StringLiteral frozen = "dtc.frozen";
/// Argument, of a frozen parameter that has a new value after each step: a
/// running statistic.
constexpr llvm::StringLiteral statistic = "dtc.statistic";
/// Argument or result, of a parameter or state that holds others side by side:
/// what they are, in order: {name, type, start[, part]}, start an element of a
/// row.
constexpr llvm::StringLiteral members = "dtc.members";
/// Argument, of a parameter whose update has no weight decay; unit.
constexpr llvm::StringLiteral noDecay = "dtc.no_decay";
/// Argument, of a parameter whose learning rate is multiplied by this; f64.
constexpr llvm::StringLiteral lrScale = "dtc.lr_scale";
/// Argument, of a parameter that is gathered wherever it is used.
constexpr llvm::StringLiteral gatheredAtUse = "dtc.gathered_at_use";
/// Argument or result of a step: "PARAMETER.NAME" of an optimizer state.
constexpr llvm::StringLiteral state = "dtc.state";
/// Result of a step: the parameter whose gradient it is.
constexpr llvm::StringLiteral gradient = "dtc.gradient";
/// Result: "loss", "grad_norm", "eval", or the model's output, "recorded".
constexpr llvm::StringLiteral output = "dtc.output";
/// Result "eval": the sums it consists of, in order, as {name, size}.
constexpr llvm::StringLiteral sums = "dtc.sums";
/// Result "eval", of a language model; unit.
constexpr llvm::StringLiteral languageModel = "dtc.language_model";
/// Result "predictions" or "eval", of a model that computes with pairs of
/// samples of a batch; unit.
constexpr llvm::StringLiteral mixesSamples = "dtc.mixes_samples";
/// Result "recorded", if it has padding: its shape without.
constexpr llvm::StringLiteral unpadded = "dtc.unpadded";
/// Argument of a step, between AssignMesh and PropagateLayouts: its layout.
constexpr llvm::StringLiteral layout = "dtc.layout";
/// Parameter, or op with one result, before PropagateLayouts: the dimension
/// that an axis is to split, as a dictionary {axis = dimension}.
constexpr llvm::StringLiteral splitDims = "dtc.split_dims";
/// Optimizer update: elements whose gradient is NaN stay as they are.
constexpr llvm::StringLiteral skipNan = "dtc.skip_nan";
/// Function of a stage: into how many blocks DivideAttentionGradient made the
/// gradient that has most.
constexpr llvm::StringLiteral attentionBlocks = "dtc.attention_blocks";
/// Op on sums over micro-batches: runs for each micro-batch, and its result is
/// what is summed.
constexpr llvm::StringLiteral perMicrobatch = "dtc.per_microbatch";
/// Argument of a stage's function: the result that overwrites it.
constexpr llvm::StringLiteral update = "dtc.update";
/// Module of one pipeline stage: its number.
constexpr llvm::StringLiteral stage = "dtc.stage";
} // namespace attr

/// NumPy broadcasting of all operands; the element type is that of operand
/// `typeFrom`, or f16 or bf16 if a later one has it. Layouts are not inferred
/// here but by the sharding rule.
llvm::LogicalResult inferBroadcast(std::optional<mlir::Location> location,
                                   mlir::ValueRange operands, unsigned typeFrom,
                                   llvm::SmallVectorImpl<mlir::Type> &types);

/// Whether types agree, layouts aside.
bool haveSameShapes(mlir::TypeRange a, mlir::TypeRange b);

/// The same, but a result that would be f16 or bf16 may be f32.
bool areStoredResults(mlir::TypeRange inferred, mlir::TypeRange results);

/// Whether elements of all these tensors are computed with in one type.
bool haveSameComputeType(mlir::TypeRange types);

namespace detail {
llvm::LogicalResult verifyLayouts(mlir::Operation *op);
llvm::LogicalResult verifyUpdate(mlir::Operation *op, unsigned numStates);
int64_t countResultElements(mlir::Operation *op);
llvm::LogicalResult verifyCollective(mlir::Operation *op);
int64_t countMembers(mlir::Operation *collective);
int64_t countBlocks(mlir::Type whole, std::optional<int64_t> dim);
} // namespace detail

} // namespace dtc

#include "dtc/Dialect/Interfaces.h.inc"

#include "dtc/Dialect/Dialect.h.inc"

#define GET_OP_CLASSES
#include "dtc/Dialect/Ops.h.inc"

#endif // DTC_DIALECT_DIALECT_H
