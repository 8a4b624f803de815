//===- ForwardFunction.h - the function that an import builds ---*- C++ -*-===//
//
// Builds @forward. Its arguments are, in this order: data of the model, inputs
// that programs fill (seed and step), and parameters.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_NODES_FORWARDFUNCTION_H
#define DTC_FRONTEND_NODES_FORWARDFUNCTION_H

#include "dtc/Frontend/Import.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

namespace dtc::frontend {

/// The function under construction.
class ForwardFunction {
public:
  ForwardFunction(mlir::MLIRContext &context, ImportReport &report)
      : builder(&context), report(report) {}

  /// Creates an empty function in a module that is named after the file.
  void create(llvm::StringRef path);

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Block &getBody() { return function.getBody().front(); }

  /// Adds an argument for an input of the model, and returns the value of that
  /// input. Data have the batch as their first dimension, the model has it as
  /// dimension `batchDim`.
  mlir::Value addData(llvm::StringRef name, mlir::RankedTensorType type,
                      int64_t batchDim);
  /// Adds an argument that programs fill: "seed" or "step".
  mlir::Value addInput(llvm::StringRef kind, mlir::Type type);
  mlir::Value addParameter(const Parameter &parameter, mlir::Type elementType);
  /// Names of the model's inputs. Other arguments get other names.
  llvm::StringSet<> inputNames;

  /// Adds the return op, erases all ops that no result depends on, and returns
  /// the module. The report gets the used parameters in order of their
  /// arguments.
  mlir::OwningOpRef<mlir::ModuleOp>
  finish(llvm::ArrayRef<mlir::Value> results,
         llvm::ArrayRef<llvm::StringRef> names);

private:
  void eraseDeadOps();
  void eraseUnusedArguments();

  mlir::OpBuilder builder;
  ImportReport &report;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  /// Attributes of each argument, in order.
  llvm::SmallVector<mlir::DictionaryAttr> attributes;
  /// Parameters that have an argument, in order of the arguments.
  std::vector<Parameter> parameters;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_NODES_FORWARDFUNCTION_H
