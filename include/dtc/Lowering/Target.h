//===- Target.h - a kind of machine that plans run on -----------*- C++ -*-===//
//
// What differs from machine to machine when plans and kernels are lowered. The
// lowering of plans asks a target and knows none; another kind of machine is
// another folder of lib/Target.
//
// Plans are the same on all targets: lists of launches, library calls, copies
// and communication on one arena. Library calls and communication are functions
// of the runtime (dtc/Runtime/ABI.h), which a target's runtime implements.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LOWERING_TARGET_H
#define DTC_LOWERING_TARGET_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include <limits>

namespace dtc {

/// Functions of libraries, which take the place of generated code.
enum class LibraryFunction {
  MatMul,
  MatMulEpilogue,  ///< with what follows it, or the sums of what it reads
  Attention,       ///< and its gradient
  PackedAttention, ///< of a projection as it lies, and its gradient
  Convolution,     ///< and its gradients
  Pooling,         ///< and its gradients
};

/// What attention a target's runtime computes as one op.
struct AttentionLimits {
  /// Infinities of a mask must leave each query a key.
  bool boundsMasks = false;
  bool onlyNarrow = false;                                ///< only of 16 bits
  int64_t maxWidth = std::numeric_limits<int64_t>::max(); ///< of a head
  int64_t widthMultiple = 1;
  /// Bytes that the gradient may keep of one sample's group of heads: 16 bits
  /// for each score.
  int64_t maxScores = std::numeric_limits<int64_t>::max();
};

/// Function attribute of a compiled kernel: bytes of its last argument, a
/// scratch buffer.
constexpr llvm::StringLiteral scratchAttrName = "dtc.scratch";

class Target {
public:
  virtual ~Target() = default;

  /// "cpu". As in messages.
  virtual llvm::StringRef getName() const = 0;

  /// Adds the passes that compile modules of kernels, dtc ops on plain tensors,
  /// and leave all else alone. After them a kernel is an `llvm.func` of
  /// pointers: operands, then results but those that overwrite an operand,
  /// then, with `dtc.scratch`, a buffer of so many bytes.
  virtual void addKernelPasses(mlir::OpPassManager &manager) const = 0;

  /// Whether the target's runtime has a library with this function.
  virtual bool computes(LibraryFunction function) const = 0;
  /// If it computes attention.
  virtual AttentionLimits getAttentionLimits() const { return {}; }

  /// What the columns of a product are best a multiple of, in elements.
  virtual int64_t getColumnMultiple() const { return 1; }

  /// Whether kernels that nothing orders are better one kernel: where a launch
  /// takes about as long as what it does.
  virtual bool joinsKernels() const = 0;

  /// Bytes that each rank of a planned module needs beside its arena.
  virtual int64_t getReservedBytes(mlir::ModuleOp) const { return 0; }

  /// Where a plan's functions are built. `context` is the runtime's.
  struct Place {
    mlir::OpBuilder &builder;
    mlir::Location loc;
    mlir::Value context;
  };

  /// Runs a kernel on buffers of the arena.
  virtual void createLaunch(Place at, mlir::LLVM::LLVMFuncOp kernel,
                            mlir::ValueRange buffers) const = 0;
  /// Copies bytes within the arena; the buffers do not overlap.
  virtual void createCopy(Place at, mlir::Value to, mlir::Value from,
                          int64_t bytes) const = 0;
  /// Sets bytes of the arena.
  virtual void createFill(Place at, mlir::Value to, uint8_t byte,
                          int64_t bytes) const = 0;
  /// The address of data that kernels and library calls read, defined once in a
  /// module by name.
  virtual mlir::Value createConstant(Place at, mlir::ModuleOp module,
                                     llvm::StringRef name,
                                     mlir::DenseElementsAttr data) const = 0;

  /// Writes a lowered module, of the LLVM dialect alone, as these object files,
  /// which are compiled at the same time. What people may want to read of it
  /// goes to `dumpDir` as well, if that is named.
  virtual llvm::LogicalResult emitObjects(mlir::ModuleOp module,
                                          llvm::ArrayRef<std::string> paths,
                                          llvm::StringRef dumpDir) const = 0;
  /// The archive of the target's runtime in the runtime's folder; beside it
  /// lies a file of the same name, ending in .link, with what the linker needs.
  virtual llvm::StringRef getRuntimeArchive() const = 0;
};

} // namespace dtc

#endif // DTC_LOWERING_TARGET_H
