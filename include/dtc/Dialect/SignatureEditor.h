//===- SignatureEditor.h - attributes of arguments and results --*- C++ -*-===//
//
// Changes many attributes at once. Each setArgAttr creates a new list of all
// attributes, which MLIR never frees: n changes would take n² time and memory.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_SIGNATUREEDITOR_H
#define DTC_DIALECT_SIGNATUREEDITOR_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace dtc {

class SignatureEditor {
public:
  /// Starts with the function's attributes.
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
  /// Adds the attributes of an argument that is appended to the block. The
  /// caller sets the function's type.
  void addArg(mlir::DictionaryAttr attributes) {
    arguments.emplace_back(attributes);
  }

  /// Writes the attributes to the function, which keeps its old ones until
  /// then.
  void write();

private:
  mlir::FunctionOpInterface function;
  llvm::SmallVector<mlir::NamedAttrList> arguments, results;
};

} // namespace dtc

#endif // DTC_DIALECT_SIGNATUREEDITOR_H
