//===- DivideCalls.cpp - calls that threads share -------------------------===//

#include "NestDivision.h"
#include "dtc/Lowering/MayStore.h"
#include "dtc/Target/CPU/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace dtc {
#define GEN_PASS_DEF_DIVIDECALLS
#include "dtc/Target/CPU/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

static constexpr llvm::StringLiteral divideName = "dtcrt_divide";

namespace {

class CallDivision {
public:
  explicit CallDivision(ModuleOp module)
      : module(module), symbols(module), b(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(b.getContext())) {}

  void run();

private:
  LLVM::LLVMFuncOp getPart(LLVM::CallOp call) const {
    auto callee = call.getCallee()
                      ? symbols.lookup<LLVM::LLVMFuncOp>(*call.getCallee())
                      : LLVM::LLVMFuncOp();
    return callee && callee->hasAttr(workAttrName) ? callee
                                                   : LLVM::LLVMFuncOp();
  }
  void divide(LLVM::LLVMFuncOp kernel, ArrayRef<LLVM::CallOp> calls);
  void divide(LLVM::CallOp call, Value context);
  void takeArray(LLVM::LLVMFuncOp part);
  void setType(LLVM::LLVMFuncOp function);
  LLVM::LLVMFuncOp getRuntimeFunction();
  Value slot(Value array, unsigned number) {
    return LLVM::GEPOp::create(
        b, loc, pointer, pointer, array,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
  }

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder b;
  Type pointer;
  Location loc = b.getUnknownLoc();
};

} // namespace

/// Makes the function take its buffers in an array, before its range.
void CallDivision::takeArray(LLVM::LLVMFuncOp part) {
  Block &entry = part.getBody().front();
  Value array = entry.insertArgument(0u, pointer, part.getLoc());
  b.setInsertionPointToStart(&entry);
  loc = part.getLoc();
  for (unsigned i = 3; i < entry.getNumArguments(); ++i) {
    Value address = LLVM::LoadOp::create(b, loc, pointer, slot(array, i - 3));
    entry.getArgument(i).replaceAllUsesWith(address);
  }
  entry.eraseArguments(3, entry.getNumArguments() - 3);
  setType(part);
}

/// Sets the function's type to the arguments of its entry block.
void CallDivision::setType(LLVM::LLVMFuncOp function) {
  function.setFunctionType(LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()),
      llvm::to_vector(function.getBody().front().getArgumentTypes())));
}

LLVM::LLVMFuncOp CallDivision::getRuntimeFunction() {
  if (auto known = symbols.lookup<LLVM::LLVMFuncOp>(divideName))
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(module.getBody());
  Type i64 = b.getI64Type();
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                  {pointer, i64, i64, i64, pointer, pointer});
  auto function =
      LLVM::LLVMFuncOp::create(b, module.getLoc(), divideName, type);
  symbols.insert(function);
  return function;
}

void CallDivision::divide(LLVM::CallOp call, Value context) {
  LLVM::LLVMFuncOp part = getPart(call);
  loc = call.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, loc, b.getI64Type(), value);
  };
  ValueRange operands = call.getArgOperands();
  ValueRange buffers = operands.drop_front(2);
  auto kernel = call->getParentOfType<LLVM::LLVMFuncOp>();
  b.setInsertionPointToStart(&kernel.getBody().front());
  Value array = LLVM::AllocaOp::create(b, loc, pointer, pointer,
                                       constant(buffers.size()));
  b.setInsertionPoint(call);
  for (auto [i, buffer] : llvm::enumerate(buffers))
    LLVM::StoreOp::create(b, loc, buffer, slot(array, i));
  int64_t work = part->getAttrOfType<IntegerAttr>(workAttrName).getInt();
  Value function = LLVM::AddressOfOp::create(b, loc, part);
  LLVM::CallOp::create(b, loc, getRuntimeFunction(),
                       ValueRange{context, operands[0], operands[1],
                                  constant(work), function, array});
  call.erase();
  takeArray(part);
}

void CallDivision::divide(LLVM::LLVMFuncOp kernel,
                          ArrayRef<LLVM::CallOp> calls) {
  SmallVector<DictionaryAttr> attributes;
  kernel.getAllArgAttrs(attributes);
  attributes.push_back(b.getDictionaryAttr({}));
  Value context =
      kernel.getBody().front().addArgument(pointer, kernel.getLoc());
  setType(kernel);
  kernel.setAllArgAttrs(attributes);
  for (BlockArgument buffer : kernel.getArguments().drop_back())
    if (!mayStoreAt(buffer, symbols))
      kernel.setArgAttr(buffer.getArgNumber(),
                        LLVM::LLVMDialect::getReadonlyAttrName(),
                        b.getUnitAttr());
  for (LLVM::CallOp call : calls)
    divide(call, context);
}

void CallDivision::run() {
  for (auto function : llvm::to_vector(module.getOps<LLVM::LLVMFuncOp>())) {
    SmallVector<LLVM::CallOp> calls;
    function.walk([&](LLVM::CallOp call) {
      if (getPart(call))
        calls.push_back(call);
    });
    if (!calls.empty())
      divide(function, calls);
  }
}

namespace {

struct DivideCalls : dtc::impl::DivideCallsBase<DivideCalls> {
  void runOnOperation() override { CallDivision(getOperation()).run(); }
};

} // namespace
