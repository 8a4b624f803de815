//===- AddEpilogueKernels.cpp - epilogues of matmuls as kernels -----------===//
//
// A library may have no algorithm for a matmul with its epilogue. Only the
// running program can find out, so each epilogue has a kernel, too.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "dtc/Lowering/Passes.h"
#include "dtc/Plan/KernelOps.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Target/CUDA/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace dtc {
#define GEN_PASS_DEF_ADDEPILOGUEKERNELS
#include "dtc/Target/CUDA/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// Builds elementwise formulas in f32.
class Formulas {
public:
  Formulas(OpBuilder &b, Location loc, ArrayRef<int64_t> shape)
      : b(b), loc(loc), shape(shape),
        type(RankedTensorType::get(shape, b.getF32Type())) {}

  /// Widens a matrix, or a vector that is broadcast to all rows.
  Value widen(Value x) {
    auto own = cast<RankedTensorType>(x.getType());
    Value wide =
        CastOp::create(b, loc, own.clone(b.getF32Type()), x).getResult();
    if (own == type.clone(own.getElementType()))
      return wide;
    return BroadcastOp::create(b, loc, type, wide).getResult();
  }
  Value narrow(Value x, Type element) {
    return CastOp::create(b, loc, type.clone(element), x).getResult();
  }
  Value add(Value x, Value y) { return AddOp::create(b, loc, x, y); }
  Value add(Value x, double y) { return add(x, number(y)); }
  Value mul(Value x, Value y) { return MulOp::create(b, loc, x, y); }
  Value scale(Value x, double factor) { return mul(x, number(factor)); }
  Value relu(Value x) { return ReluOp::create(b, loc, x); }

  /// x (1 + tanh(u)) / 2
  Value gelu(Value x) { return mul(x, scale(add(tanhOfArgument(x), 1), 0.5)); }
  /// (1 + t) / 2 + x (1 - t^2) u' / 2, where t = tanh(u)
  Value geluGrad(Value x) {
    Value t = tanhOfArgument(x);
    Value rising = add(scale(mul(t, t), -1), 1);
    Value slope = scale(add(scale(mul(x, x), 3 * cubic), 1), factor);
    return scale(add(add(t, 1), mul(x, mul(rising, slope))), 0.5);
  }

private:
  static constexpr double cubic = 0.044715;
  const double factor = std::sqrt(2 / M_PI);

  /// t = tanh(u) with u = sqrt(2 / pi) (x + 0.044715 x^3).
  Value tanhOfArgument(Value x) {
    Value inner = mul(x, add(scale(mul(x, x), cubic), 1));
    return TanhOp::create(b, loc, scale(inner, factor));
  }
  Value number(double value) {
    auto scalar = RankedTensorType::get({}, b.getF32Type());
    Value constant = ConstantOp::create(
        b, loc, scalar,
        DenseElementsAttr::get(scalar, b.getFloatAttr(b.getF32Type(), value)));
    return BroadcastOp::create(b, loc, type, constant).getResult();
  }

  OpBuilder &b;
  Location loc;
  ArrayRef<int64_t> shape;
  RankedTensorType type;
};

} // namespace

/// Creates a kernel that takes the plain product, other and bias, and returns
/// the results of the op.
static func::FuncOp createKernel(OpBuilder b, MatMulEpilogueOp op,
                                 StringRef name) {
  Location loc = op.getLoc();
  RankedTensorType type = getLocalType(op.getResult().getType());
  SmallVector<Type> inputs = {type, getLocalType(op.getOther().getType())};
  if (op.getBias())
    inputs.push_back(getLocalType(op.getBias().getType()));
  SmallVector<Type> outputs(op->getNumResults(), type);
  auto kernel =
      func::FuncOp::create(b, loc, name, b.getFunctionType(inputs, outputs));
  kernel->setAttr(attr::kernel, b.getUnitAttr());
  b.setInsertionPointToStart(kernel.addEntryBlock());

  Formulas f(b, loc, type.getShape());
  Value product = f.widen(kernel.getArgument(0));
  Value other = f.widen(kernel.getArgument(1));
  SmallVector<Value> values;
  switch (op.getEpilogue()) {
  case Epilogue::bias:
    values = {f.add(product, other)};
    break;
  case Epilogue::relu:
    values = {f.relu(f.add(product, other))};
    break;
  case Epilogue::gelu: {
    Value x = f.add(product, other);
    values = {f.gelu(x)};
    if (op.getSum())
      values.push_back(x);
    break;
  }
  case Epilogue::gelu_grad:
    values = {f.mul(product, f.geluGrad(other))};
    break;
  case Epilogue::add:
    values = {f.add(product, other)};
    if (op.getBias())
      values = {f.add(values[0], f.widen(kernel.getArgument(2)))};
    break;
  }
  for (Value &value : values)
    value = f.narrow(value, type.getElementType());
  func::ReturnOp::create(b, loc, values);
  return kernel;
}

/// The kernel's name, by its epilogue and type:
/// "kernel_after_gelu_sum_32x64xbf16".
static std::string nameKernel(MatMulEpilogueOp op) {
  std::string text;
  llvm::raw_string_ostream name(text);
  name << "kernel_after_" << stringifyEpilogue(op.getEpilogue());
  if (op.getBias())
    name << "_bias";
  if (op.getSum())
    name << "_sum";
  RankedTensorType type = getLocalType(op.getResult().getType());
  name << '_' << type.getDimSize(0) << 'x' << type.getDimSize(1) << 'x'
       << type.getElementType();
  return text;
}

namespace {

struct AddEpilogueKernels
    : dtc::impl::AddEpilogueKernelsBase<AddEpilogueKernels> {
  void runOnOperation() override {
    ModuleOp root = getOperation();
    auto kernels = root.lookupSymbol<ModuleOp>(kernelsName);
    auto add = [&](MatMulEpilogueOp op) {
      if (!kernels) {
        OpBuilder end = OpBuilder::atBlockEnd(root.getBody());
        kernels = ModuleOp::create(end, root.getLoc(), kernelsName);
      }
      std::string name = nameKernel(op);
      auto kernel = kernels.lookupSymbol<func::FuncOp>(name);
      if (!kernel)
        kernel =
            createKernel(OpBuilder::atBlockEnd(kernels.getBody()), op, name);
      op->setAttr(
          epilogueKernelAttrName,
          SymbolRefAttr::get(StringAttr::get(&getContext(), kernelsName),
                             FlatSymbolRefAttr::get(kernel)));
    };
    for (auto stage : llvm::to_vector(root.getOps<ModuleOp>()))
      if (stage->hasAttr(attr::stage))
        stage.walk(add);
  }
};

} // namespace
