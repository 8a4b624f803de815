//===- SignatureEditor.cpp - attributes of arguments and results ----------===//
//
// See SignatureEditor.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/SignatureEditor.h"

using namespace mlir;
using namespace dtc;

SignatureEditor::SignatureEditor(FunctionOpInterface function)
    : function(function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    arguments.emplace_back(function.getArgAttrDict(i));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    results.emplace_back(function.getResultAttrDict(i));
}

void SignatureEditor::write() {
  auto getDictionary = [&](const NamedAttrList &list) {
    return list.getDictionary(function.getContext());
  };
  function.setAllArgAttrs(llvm::map_to_vector(arguments, getDictionary));
  function.setAllResultAttrs(llvm::map_to_vector(results, getDictionary));
}
