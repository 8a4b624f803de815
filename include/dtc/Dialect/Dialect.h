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

/// The result's memory is that of an operand, from a byte offset on.
struct Alias {
  unsigned operand;
  AliasKind kind;
};

/// The positions of a convolution's or pooling's window: its taps
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

/// Trait of ops that are DTC_Product (OpBase.td).
template <typename ConcreteType>
class Product : public mlir::OpTrait::TraitBase<ConcreteType, Product> {};

/// Attribute names that several phases use.
namespace attr {
/// Argument of a step: the name of the graph input.
constexpr llvm::StringLiteral input = "dtc.input";
/// Argument of a step: exclusive upper bounds of an integer input's values. One
/// bound for all, or one for each element of a sample; 0 is no bound.
constexpr llvm::StringLiteral bound = "dtc.bound";
/// Argument of a step: a value outside the bound that labels may have.
constexpr llvm::StringLiteral ignore = "dtc.ignore_index";
/// Argument of a step: the kind of an input. Data are input or label. Scalars
/// are lr, step, seed, microbatch (the numbers of the step's micro-batches),
/// loss_scale and updates (StepFunction.h).
constexpr llvm::StringLiteral kind = "dtc.kind";
/// Argument or result of a step: the parameter's name.
constexpr llvm::StringLiteral parameter = "dtc.parameter";
/// Argument, of a parameter that is a part of a tensor of the model: {tensor,
/// shape, dim, start}. Files contain the whole tensor. Elements of the
/// parameter beyond the end of the tensor are padding, and zero.
constexpr llvm::StringLiteral part = "dtc.part";
/// Argument, of a parameter that is not trained.
constexpr llvm::StringLiteral frozen = "dtc.frozen";
/// Argument, of a frozen parameter that gets a new value in each step: a
/// running statistic.
constexpr llvm::StringLiteral statistic = "dtc.statistic";
/// Argument or result, of a flat parameter or its state: its members in order,
/// each {name, type, start[, part][, each][, own]}. `start` is the index of an
/// element in a row. `each` names an axis whose ranks have states of their own,
/// along one more dimension in front. With `own`, the state has this type
/// instead of the parameter's.
constexpr llvm::StringLiteral members = "dtc.members";
/// Argument, of a parameter without weight decay; unit.
constexpr llvm::StringLiteral noDecay = "dtc.no_decay";
/// Argument, of a parameter: the factor of its learning rate; f64.
constexpr llvm::StringLiteral lrScale = "dtc.lr_scale";
/// Argument, of a parameter that is gathered wherever it is used.
constexpr llvm::StringLiteral gatheredAtUse = "dtc.gathered_at_use";
/// Argument or result of a step: the name of an optimizer state,
/// "PARAMETER.NAME".
constexpr llvm::StringLiteral state = "dtc.state";
/// Argument, of a state that a checkpoint may lack. It is zero then.
constexpr llvm::StringLiteral optional = "dtc.optional";
/// Argument, of a state that nothing needs after the programs that follow a
/// step: checkpoints do not have it.
constexpr llvm::StringLiteral transient = "dtc.transient";
/// Result of a step: the name of the gradient's parameter.
constexpr llvm::StringLiteral gradient = "dtc.gradient";
/// Result: "loss", "grad_norm", "eval" or, for the model's output, "recorded".
constexpr llvm::StringLiteral output = "dtc.output";
/// Result "eval": its sums in order, each {name, size}.
constexpr llvm::StringLiteral sums = "dtc.sums";
/// Result "eval", of a language model; unit.
constexpr llvm::StringLiteral languageModel = "dtc.language_model";
/// Result "predictions" or "eval", of a model that mixes the samples of a
/// batch; unit.
constexpr llvm::StringLiteral mixesSamples = "dtc.mixes_samples";
/// Result of a step: the program between steps that computes it ("average",
/// "apply", "sync0"), after which the result has another of these attributes.
/// Module of a stage: its program, "eval" or one of these; the training step's
/// has none.
constexpr llvm::StringLiteral program = "dtc.program";
/// The same places: [period, turn] of a program that runs after step t if t
/// modulo period is turn; absent if the runtime decides.
constexpr llvm::StringLiteral turn = "dtc.turn";
/// Argument of a step, before AssignMesh: a state or parameter that has one
/// value for all workers.
constexpr llvm::StringLiteral shared = "dtc.shared";
/// Result "recorded", if it is padded: its shape without padding.
constexpr llvm::StringLiteral unpadded = "dtc.unpadded";
/// Argument of a step, between AssignMesh and PropagateLayouts: its layout.
constexpr llvm::StringLiteral layout = "dtc.layout";
/// Parameter, or op with one result, before PropagateLayouts: the dimension
/// that each axis must split, as a dictionary {axis = dimension}; -1: the axis
/// must split none. Also of a state that is not split like its parameter.
constexpr llvm::StringLiteral splitDims = "dtc.split_dims";
/// Optimizer update: elements with a NaN gradient keep their values.
constexpr llvm::StringLiteral skipNan = "dtc.skip_nan";
/// Function of a stage: the largest number of blocks that
/// DivideAttentionGradient divided a gradient into.
constexpr llvm::StringLiteral attentionBlocks = "dtc.attention_blocks";
/// Op on sums over micro-batches: it runs for each micro-batch, and its results
/// are summed instead.
constexpr llvm::StringLiteral perMicrobatch = "dtc.per_microbatch";
/// Argument of a stage function: the index of the result that overwrites it.
constexpr llvm::StringLiteral update = "dtc.update";
/// Module of one pipeline stage: its number.
constexpr llvm::StringLiteral stage = "dtc.stage";
} // namespace attr

/// Infers the type of an elementwise op with NumPy broadcasting. The element
/// type is that of operand `typeFrom`, or f16 or bf16 if a later operand has
/// it. Layouts are not inferred: the sharding rule does that.
llvm::LogicalResult inferBroadcast(std::optional<mlir::Location> location,
                                   mlir::ValueRange operands, unsigned typeFrom,
                                   llvm::SmallVectorImpl<mlir::Type> &types);

/// Whether types are equal, except for layouts.
bool haveSameShapes(mlir::TypeRange a, mlir::TypeRange b);

/// Like haveSameShapes, but a result may be f32 where f16 or bf16 is inferred.
bool areStoredResults(mlir::TypeRange inferred, mlir::TypeRange results);

/// Whether the elements of all these tensors have the same compute type.
bool haveSameComputeType(mlir::TypeRange types);

/// The layout, `each` on an axis that it does not have.
LayoutAttr addEach(LayoutAttr layout, mlir::StringAttr axis);

/// The layout of `dtc.terms`, given that of the operand, which is partial or
/// each on the axis.
LayoutAttr getLayoutOfTerms(LayoutAttr value, mlir::StringAttr axis);

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
