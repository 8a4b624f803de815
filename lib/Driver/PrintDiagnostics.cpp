//===- PrintDiagnostics.cpp - diagnostics in the words of the model -------===//

#include "Compilation.h"
#include "dtc/Support/ShortenMessage.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace dtc;

/// "its reshape has a sequence" of "'dtc.reshape' op has a sequence".
static std::string withoutDialect(std::string text) {
  StringRef rest = text;
  if (!rest.consume_front("'dtc."))
    return text;
  auto [op, message] = rest.split("' op ");
  return message.empty() ? text : ("its " + op + " " + message).str();
}

/// An error about the model as a whole names the file, not a node.
void Compilation::printMessage(Location location, const std::string &text) {
  std::string message = text;
  if (auto name = location->findInstanceOf<NameLoc>()) {
    bool isNode = !module || location != module->getLoc();
    message = (isNode ? "node '" : "'") + name.getName().getValue().str() +
              "': " + (isNode ? withoutDialect(text) : text);
  }
  llvm::errs() << shortenMessage(message) << "\n";
}

/// Diagnostics in the words of the model: the ONNX node, not a place in IR.
LogicalResult Compilation::print(Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
      !errors.insert(text).second)
    return success(); // once is enough, though other nodes have it, too
  llvm::raw_ostream &os = llvm::errs();
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    llvm::WithColor::error(os, "dtc");
    break;
  case DiagnosticSeverity::Warning:
    llvm::WithColor::warning(os, "dtc");
    break;
  default:
    llvm::WithColor::remark(os, "dtc");
  }
  printMessage(diagnostic.getLocation(), text);
  for (Diagnostic &note : diagnostic.getNotes()) {
    llvm::WithColor::note(os, "dtc");
    printMessage(note.getLocation(), note.str());
  }
  return success();
}
