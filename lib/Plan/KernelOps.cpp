//===- KernelOps.cpp - roles of dtc ops in kernels ------------------------===//
//
// One model for each family of ops.
//
//===----------------------------------------------------------------------===//

#include "dtc/Plan/KernelOps.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Plan/Aliases.h"

#include "dtc/Plan/KernelOps.cpp.inc"

using namespace mlir;
using namespace dtc;

static RankedTensorType getOperandType(Operation *op, unsigned operand = 0) {
  return getLocalType(op->getOperand(operand).getType());
}

static RankedTensorType getResultType(Operation *op) {
  return getLocalType(op->getResult(0).getType());
}

/// Whether the dimension is the last one, whose elements form a row.
static bool isColumn(RankedTensorType type, int64_t dim) {
  return dim == type.getRank() - 1;
}

AccumulateOp dtc::getAccumulation(Operation *product) {
  bool canAdd = isa<MatMulOp, MatMulBiasGradOp, GroupedOuterOp, ExpertOuterOp,
                    Conv2DOp, Conv2DInputGradOp, Conv2DFilterGradOp>(product);
  if (!canAdd || !product->getResult(0).hasOneUse())
    return {};
  auto sum = dyn_cast<AccumulateOp>(*product->user_begin());
  return sum && sum.getX() == product->getResult(0) ? sum : AccumulateOp();
}

bool dtc::isMadeByProduct(Operation *op) {
  auto sum = dyn_cast<AccumulateOp>(op);
  Operation *producer = sum ? sum.getX().getDefiningOp() : nullptr;
  return producer && getAccumulation(producer) == sum;
}

bool dtc::isReadByKernel(Value value, Operation *besides) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isView(user) ? isReadByKernel(user->getResult(0), besides)
                        : user != besides && isa<KernelOpInterface>(user);
  });
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// The loops compute one element of the result in each iteration.
static KernelRole getMapRole(Operation *op) {
  return {Fusion::Anywhere, getResultType(op), {}};
}

/// The loops process each row of the first operand alone.
static KernelRole getRowRole(Operation *op) {
  return {Fusion::Anywhere, getOperandType(op), {}};
}

/// The loops combine all rows of the first operand.
static KernelRole getTotalRole(Operation *op) {
  return {Fusion::Last, getOperandType(op), {}};
}

static KernelRole getAloneRole(Operation *op) {
  return {Fusion::Alone, getResultType(op), {}};
}

template <typename OpType> static KernelRole getReductionRole(Operation *op) {
  RankedTensorType type = getOperandType(op);
  bool withinRow = llvm::all_of(cast<OpType>(op).getAxes(), [&](int64_t dim) {
    return isColumn(type, dim);
  });
  return withinRow ? getRowRole(op) : getTotalRole(op);
}

/// A range of the last dimension stays within a row; other ranges move rows.
template <typename OpType> static KernelRole getRangeRole(Operation *op) {
  RankedTensorType type = getOperandType(op);
  auto axis = static_cast<int64_t>(cast<OpType>(op).getAxis());
  return isColumn(type, axis) ? getRowRole(op) : getAloneRole(op);
}

/// A kernel of its own: each op that fuses with it would search the windows
/// again.
static KernelRole getPoolingRole(Operation *op) {
  KernelRole role = getAloneRole(op);
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    role.lookedUp.push_back(i);
  return role;
}

static KernelRole getGatherRole(Operation *op) {
  return {Fusion::Anywhere, getResultType(op), {0}};
}

static KernelRole getScatterRole(Operation *op) {
  return {Fusion::Last, getOperandType(op, 1), {}};
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

namespace {

template <typename OpType, KernelRole (*role)(Operation *)>
struct KernelModel
    : KernelOpInterface::ExternalModel<KernelModel<OpType, role>, OpType> {
  KernelRole getKernelRole(Operation *op) const { return role(op); }
};

} // namespace

template <KernelRole (*role)(Operation *), typename... OpTypes>
static void attach(MLIRContext *context) {
  (OpTypes::template attachInterface<KernelModel<OpTypes, role>>(*context),
   ...);
}

void dtc::registerKernelOpModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DTCDialect *) {
    attach<getMapRole, NegOp, AbsOp, ExpOp, LogOp, SqrtOp, ReciprocalOp, TanhOp,
           ErfOp, SigmoidOp, ReluOp, SinOp, CosOp, AtanOp, FloorOp, AddOp,
           SubOp, MulOp, DivOp, PowOp, MaximumOp, MinimumOp, CompareOp,
           LogicalAndOp, LogicalOrOp, LogicalNotOp, SelectOp, CastOp,
           TransposeOp, BroadcastOp, OneHotOp, RandomUniformOp, AccumulateOp,
           ClipByNormOp, SgdOp, AdamOp, AdamDirectionOp, RmsPropOp, AdagradOp,
           LionOp, LarsOp, AverageOp, KeepOp>(context);
    attach<getRowRole, SoftmaxOp, LogSoftmaxOp, LayerNormOp,
           CrossEntropyGradOp>(context);
    attach<getTotalRole, CrossEntropyOp, CountLabelsOp, SquaredErrorOp,
           SumSquaresOp>(context);
    attach<getReductionRole<ReduceSumOp>, ReduceSumOp>(context);
    attach<getReductionRole<ReduceMaxOp>, ReduceMaxOp>(context);
    attach<getRangeRole<SliceOp>, SliceOp>(context);
    attach<getRangeRole<PadOp>, PadOp>(context);
    attach<getRangeRole<SplitOp>, SplitOp>(context);
    attach<getRangeRole<ConcatOp>, ConcatOp>(context);
    attach<getPoolingRole, MaxPool2DOp, MaxPool2DGradOp, SumPool2DOp,
           SumPool2DGradOp>(context);
    attach<getGatherRole, GatherOp>(context);
    attach<getScatterRole, ScatterAddOp>(context);
  });
}
