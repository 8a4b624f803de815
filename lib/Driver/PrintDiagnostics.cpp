//===- PrintDiagnostics.cpp - diagnostics in the model's terms ------------===//

#include "Compilation.h"
#include "dtc/Support/ShortenMessage.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace dtc;

/// Rewords "'dtc.reshape' op has a sequence" to "its reshape has a sequence".
static std::string withoutDialect(std::string text) {
  StringRef rest = text;
  if (!rest.consume_front("'dtc."))
    return text;
  auto [op, message] = rest.split("' op ");
  return message.empty() ? text : ("its " + op + " " + message).str();
}

/// An error about the whole model names the file instead of a node.
void Compilation::printMessage(Location location, const std::string &text) {
  std::string message = text;
  if (auto name = location->findInstanceOf<NameLoc>()) {
    bool isNode = !module || location != module->getLoc();
    message = (isNode ? "node '" : "'") + name.getName().getValue().str() +
              "': " + (isNode ? withoutDialect(text) : text);
  }
  llvm::errs() << shortenMessage(message) << "\n";
}

/// Prints a diagnostic with the ONNX node instead of a place in the IR.
LogicalResult Compilation::print(Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
      !errors.insert(text).second)
    return success(); // printed before, for another node
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
