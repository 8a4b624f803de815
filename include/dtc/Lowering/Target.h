//===- Target.h - a kind of machine that plans run on -----------*- C++ -*-===//
//
// The differences between machines in the lowering of plans and kernels.
// LowerPlan calls this interface and knows no target. Each target is a folder
// of lib/Target.
//
// Plans are the same on all targets: lists of launches, library calls, copies
// and communication on one arena. Library calls and communication are functions
// of the runtime (dtc/Runtime/ABI.h), which each target's runtime implements.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LOWERING_TARGET_H
#define DTC_LOWERING_TARGET_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include <limits>

namespace dtc {

/// Library functions that replace generated code.
enum class LibraryFunction {
  MatMul,
  MatMulEpilogue,  ///< with elementwise ops after it, or sums of its operand
  GroupedMatMul,   ///< by chosen matrices, and its gradients
  Attention,       ///< and its gradient
  PackedAttention, ///< of one packed projection, and its gradient
  Convolution,     ///< and its gradients
  Pooling,         ///< and its gradients
  Compression,     ///< selection and orthonormal columns
};

/// Limits of the attention that a target's runtime computes as one op.
struct AttentionLimits {
  /// A mask must leave each query at least one finite score.
  bool boundsMasks = false;
  bool onlyNarrow = false;                                ///< only 16-bit types
  int64_t maxWidth = std::numeric_limits<int64_t>::max(); ///< columns of a head
  int64_t widthMultiple = 1;
  /// Bytes that the gradient may use for the scores of one sample's group of
  /// heads, two bytes for each score.
  int64_t maxScores = std::numeric_limits<int64_t>::max();
};

/// Attribute of a compiled kernel: the size in bytes of its last argument, a
/// scratch buffer.
constexpr llvm::StringLiteral scratchAttrName = "dtc.scratch";

class Target {
public:
  virtual ~Target() = default;

  /// The target's name in messages, such as "cpu".
  virtual llvm::StringRef getName() const = 0;

  /// Adds the passes that compile modules of kernels, which contain dtc ops on
  /// plain tensors, and change nothing else. A compiled kernel is an
  /// `llvm.func` that takes pointers: operands, then results that overwrite no
  /// operand, then, if it has `dtc.scratch`, a buffer of that size.
  virtual void addKernelPasses(mlir::OpPassManager &manager) const = 0;

  /// Whether the target's runtime has a library for this function.
  virtual bool computes(LibraryFunction function) const = 0;
  /// The limits of the target's attention, if its runtime computes attention.
  virtual AttentionLimits getAttentionLimits() const { return {}; }

  /// The matmul library is fastest if the number of columns is a multiple of
  /// this.
  virtual int64_t getColumnMultiple() const { return 1; }

  /// Whether independent kernels should be joined into one: true if a launch
  /// takes about as long as a small kernel runs.
  virtual bool joinsKernels() const = 0;

  /// Bytes that each rank of a planned module needs in addition to its arena.
  virtual int64_t getReservedBytes(mlir::ModuleOp) const { return 0; }

  /// An insertion point in a plan's function, with the runtime's context.
  struct Place {
    mlir::OpBuilder &builder;
    mlir::Location loc;
    mlir::Value context;
  };

  /// Launches a kernel on buffers of the arena.
  virtual void createLaunch(Place at, mlir::LLVM::LLVMFuncOp kernel,
                            mlir::ValueRange buffers) const = 0;
  /// Copies bytes within the arena; the buffers do not overlap.
  virtual void createCopy(Place at, mlir::Value to, mlir::Value from,
                          int64_t bytes) const = 0;
  /// Fills bytes of the arena with `byte`.
  virtual void createFill(Place at, mlir::Value to, uint8_t byte,
                          int64_t bytes) const = 0;
  /// Returns the address of constant data that kernels and library calls read.
  /// The module has one definition for each name.
  virtual mlir::Value createConstant(Place at, mlir::ModuleOp module,
                                     llvm::StringRef name,
                                     mlir::DenseElementsAttr data) const = 0;

  /// Compiles a lowered module, which is in the LLVM dialect alone, to these
  /// object files, in parallel. Also writes readable assembly to `dumpDir` if
  /// it is not empty. Fails with a diagnostic.
  virtual llvm::LogicalResult emitObjects(mlir::ModuleOp module,
                                          llvm::ArrayRef<std::string> paths,
                                          llvm::StringRef dumpDir) const = 0;
  /// The archive of the target's runtime in the runtime's folder. A file of the
  /// same name with the suffix .link lists the linker's arguments.
  virtual llvm::StringRef getRuntimeArchive() const = 0;
};

} // namespace dtc

#endif // DTC_LOWERING_TARGET_H
