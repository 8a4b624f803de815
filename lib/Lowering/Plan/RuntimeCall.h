//===- RuntimeCall.h - the event and memory of a runtime call ---*- C++ -*-===//
//
// Reads from a call, by the ABI, its communication event and the bytes that it
// reads and writes.
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
  /// The bytes that a call accesses through a pointer argument.
  struct Touched {
    unsigned argument;
    int64_t bytes;
    bool writes;
  };

  /// Prepares to read a call of dtcrt_*. `numbers` are the values of its
  /// integer arguments, and `system` has the groups.
  RuntimeCall(mlir::LLVM::CallOp call, llvm::ArrayRef<int64_t> numbers,
              const CommunicationSystem &system)
      : call(call), numbers(numbers), system(system) {}

  /// Fails with a diagnostic if the runtime has no such function, or if it has
  /// other parameters.
  mlir::LogicalResult read();

  Event event; ///< local unless the call communicates
  llvm::SmallVector<Touched, 4> touched;

private:
  mlir::LogicalResult readCommunication(const RuntimeFunction &function);
  mlir::LogicalResult readNumber(CallArgument argument, int64_t number);
  mlir::LogicalResult readNothing();
  mlir::LogicalResult readMatMul();
  mlir::LogicalResult readMatMulEpilogue();
  mlir::LogicalResult readGroupedMatMul();
  mlir::LogicalResult readGroupedOuter();
  mlir::LogicalResult readExpertMatMul();
  mlir::LogicalResult readExpertOuter();
  mlir::LogicalResult readSlots(bool isCombine);
  mlir::LogicalResult readCountRows();
  mlir::LogicalResult readAttention(bool isGrad);
  mlir::LogicalResult readPackedAttention(bool isGrad);
  mlir::LogicalResult readConv2D();
  mlir::LogicalResult readPool2D();
  mlir::LogicalResult readTopK();
  mlir::LogicalResult readOrthonormalize();
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
  int64_t members = 1; ///< size of a collective's group
};

} // namespace dtc

#endif // DTC_LIB_LOWERING_PLAN_RUNTIMECALL_H
