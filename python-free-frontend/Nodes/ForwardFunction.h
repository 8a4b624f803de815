//===- ForwardFunction.h - the function that an import builds ---*- C++ -*-===//
//
// @forward, with its arguments: data of the model, inputs that programs fill
// (seed and step), and parameters, in this order.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_NODES_FORWARDFUNCTION_H
#define DTC_FRONTEND_NODES_FORWARDFUNCTION_H

#include "dtc/Frontend/Import.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

namespace dtc::frontend {

class ForwardFunction {
public:
  ForwardFunction(mlir::MLIRContext &context, ImportReport &report)
      : builder(&context), report(report) {}

  /// Creates an empty function in a module that is called like the file.
  void create(llvm::StringRef path);

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Block &getBody() { return function.getBody().front(); }

  /// An argument for data of the shape that the model's input has, and the
  /// value that is that input. Data have the batch first, the model has it as
  /// `batchDim`.
  mlir::Value addData(llvm::StringRef name, mlir::RankedTensorType type,
                      int64_t batchDim);
  /// An argument that programs fill: "seed" or "step".
  mlir::Value addInput(llvm::StringRef kind, mlir::Type type);
  mlir::Value addParameter(const Parameter &parameter, mlir::Type elementType);
  /// Names of the model's inputs, which no other argument gets.
  llvm::StringSet<> inputNames;

  /// Returns results, erases what they do not depend on, and hands out the
  /// module. The report gets the parameters in order of their arguments.
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
  /// One for each argument, in order.
  llvm::SmallVector<mlir::DictionaryAttr> attributes;
  /// Those that have arguments, in order of these.
  std::vector<Parameter> parameters;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_NODES_FORWARDFUNCTION_H
