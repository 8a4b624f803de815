//===- Register.cpp - attaches all library calls --------------------------===//

#include "LibraryCall.h"

#include "dtc/Lowering/LibraryCall.cpp.inc"

using namespace mlir;
using namespace dtc;

namespace {

template <typename OpType, LibraryFunction function>
struct CallModel
    : LibraryCallInterface::ExternalModel<CallModel<OpType, function>, OpType> {
  LibraryFunction getLibraryFunction(Operation *) const { return function; }
  void buildCall(Operation *op, FunctionLowering &lowering) const {
    dtc::buildCall(cast<OpType>(op), lowering);
  }
};

/// Attention computes in the element type of its first operand.
template <typename OpType, LibraryFunction function>
struct AttentionModel
    : LibraryCallInterface::ExternalModel<AttentionModel<OpType, function>,
                                          OpType> {
  LibraryFunction getLibraryFunction(Operation *) const { return function; }
  bool isWithin(Operation *op, const AttentionLimits &limits) const {
    AttentionSizes sizes = cast<OpType>(op).getSizes();
    return (!limits.onlyNarrow || isFloat16(op->getOperand(0).getType())) &&
           std::max(sizes.width, sizes.valueWidth) <= limits.maxWidth &&
           sizes.width % limits.widthMultiple == 0 &&
           sizes.valueWidth % limits.widthMultiple == 0;
  }
  void buildCall(Operation *op, FunctionLowering &lowering) const {
    dtc::buildCall(cast<OpType>(op), lowering);
  }
};

} // namespace

template <template <typename, LibraryFunction> class Model,
          LibraryFunction function, typename... OpTypes>
static void attach(MLIRContext *context) {
  (OpTypes::template attachInterface<Model<OpTypes, function>>(*context), ...);
}

void dtc::registerLibraryCallModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DTCDialect *) {
    attach<CallModel, LibraryFunction::MatMul, MatMulOp>(context);
    attach<CallModel, LibraryFunction::MatMulEpilogue, MatMulEpilogueOp,
           MatMulBiasGradOp>(context);
    attach<CallModel, LibraryFunction::GroupedMatMul, GroupedMatMulOp,
           GroupedOuterOp, ExpertMatMulOp, ExpertOuterOp, DispatchOp, CombineOp,
           CountRowsOp>(context);
    attach<AttentionModel, LibraryFunction::Attention, AttentionOp,
           AttentionGradOp>(context);
    attach<AttentionModel, LibraryFunction::PackedAttention, PackedAttentionOp,
           PackedAttentionGradOp>(context);
    attach<CallModel, LibraryFunction::Convolution, Conv2DOp, Conv2DInputGradOp,
           Conv2DFilterGradOp>(context);
    attach<CallModel, LibraryFunction::Pooling, MaxPool2DOp, MaxPool2DGradOp,
           SumPool2DOp, SumPool2DGradOp>(context);
    attach<CallModel, LibraryFunction::Compression, TopKOp, OrthonormalizeOp>(
        context);
  });
}
