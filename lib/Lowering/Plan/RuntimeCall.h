//===- RuntimeCall.h - what a call of the runtime does ----------*- C++ -*-===//
//
// Reads a call by the ABI: which event it is, and which bytes it touches.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_LOWERING_PLAN_RUNTIMECALL_H
#define DTC_LIB_LOWERING_PLAN_RUNTIMECALL_H

#include "RuntimeFunctions.h"
#include "dtc/Communication/Communication.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace dtc {

class RuntimeCall {
public:
  /// Bytes behind an argument, which is a pointer.
  struct Touched {
    unsigned argument;
    int64_t bytes;
    bool writes;
  };

  /// Reads a call of dtcrt_*. `numbers` are the values of the arguments that
  /// are integers; the groups are those of `system`.
  RuntimeCall(mlir::LLVM::CallOp call, llvm::ArrayRef<int64_t> numbers,
              const CommunicationSystem &system)
      : call(call), numbers(numbers), system(system) {}

  /// Fails with a diagnostic if the runtime has no such function, or not with
  /// such arguments.
  mlir::LogicalResult read();

  Event event; ///< local if it is no communication
  llvm::SmallVector<Touched, 4> touched;

private:
  mlir::LogicalResult readCommunication(const RuntimeFunction &function);
  mlir::LogicalResult readNumber(CallArgument argument, int64_t number);
  mlir::LogicalResult readNothing();
  mlir::LogicalResult readMatMul();
  mlir::LogicalResult readMatMulEpilogue();
  mlir::LogicalResult readAttention(bool isGrad);
  mlir::LogicalResult readPackedAttention(bool isGrad);
  mlir::LogicalResult readConv2D();
  mlir::LogicalResult readPool2D();
  mlir::LogicalResult readLocalSlice();
  mlir::LogicalResult readCopy();
  mlir::LogicalResult readFill();
  mlir::LogicalResult readRecord();

  mlir::InFlightDiagnostic error();
  mlir::LogicalResult expectArguments(unsigned count);
  mlir::LogicalResult expectRole(int64_t role, int64_t first, int64_t last);
  mlir::FailureOr<int64_t> countMembers(int64_t group);
  void touch(unsigned argument, int64_t bytes, bool writes) {
    touched.push_back({argument, bytes, writes});
  }

  mlir::LLVM::CallOp call;
  void touchResult(unsigned argument, int64_t flags, int64_t dtype,
                   int64_t count);

  llvm::ArrayRef<int64_t> numbers;
  const CommunicationSystem &system;
  int64_t members = 1; ///< of a collective's group
};

} // namespace dtc

#endif // DTC_LIB_LOWERING_PLAN_RUNTIMECALL_H
