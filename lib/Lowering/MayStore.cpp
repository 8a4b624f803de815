//===- MayStore.cpp - stores through an address ---------------------------===//

#include "dtc/Lowering/MayStore.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace dtc;

bool dtc::mayStoreAt(Value address, const SymbolTable &symbols) {
  SmallVector<Value> worklist = {address};
  llvm::DenseSet<Value> seen(worklist.begin(), worklist.end());
  auto visit = [&](Value value) {
    if (seen.insert(value).second)
      worklist.push_back(value);
  };
  while (!worklist.empty())
    for (OpOperand &use : worklist.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      // A buffer is an address within a struct.
      if (isa<LLVM::GEPOp, LLVM::InsertValueOp, LLVM::ExtractValueOp>(user)) {
        visit(user->getResult(0));
        continue;
      }
      if (isa<LLVM::LoadOp, LLVM::MaskedLoadOp, LLVM::masked_gather>(user))
        continue;
      auto call = dyn_cast<LLVM::CallOp>(user);
      auto callee = call && call.getCallee()
                        ? symbols.lookup<LLVM::LLVMFuncOp>(*call.getCallee())
                        : LLVM::LLVMFuncOp();
      if (!callee || callee.isExternal())
        return true;
      visit(callee.getArgument(use.getOperandNumber()));
    }
  return false;
}
