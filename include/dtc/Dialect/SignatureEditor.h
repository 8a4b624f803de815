//===- SignatureEditor.h - attributes of arguments and results --*- C++ -*-===//
//
// Changes many of them at once. Each setArgAttr makes a new list of all, which
// MLIR keeps for good: with it, n changes take n² time and memory.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_SIGNATUREEDITOR_H
#define DTC_DIALECT_SIGNATUREEDITOR_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace dtc {

class SignatureEditor {
public:
  /// Starts from what the function has.
  explicit SignatureEditor(mlir::FunctionOpInterface function);

  void setArg(unsigned index, llvm::StringRef name, mlir::Attribute value) {
    arguments[index].set(name, value);
  }
  void removeArg(unsigned index, llvm::StringRef name) {
    arguments[index].erase(name);
  }
  void setResult(unsigned index, llvm::StringRef name, mlir::Attribute value) {
    results[index].set(name, value);
  }
  void removeResult(unsigned index, llvm::StringRef name) {
    results[index].erase(name);
  }
  /// For an argument that is appended to the block; its type is the caller's.
  void addArg(mlir::DictionaryAttr attributes) {
    arguments.emplace_back(attributes);
  }

  /// Gives the function the attributes. Until then it has the old ones.
  void write();

private:
  mlir::FunctionOpInterface function;
  llvm::SmallVector<mlir::NamedAttrList> arguments, results;
};

} // namespace dtc

#endif // DTC_DIALECT_SIGNATUREEDITOR_H
