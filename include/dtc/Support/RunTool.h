//===- RunTool.h - run a linker or an assembler -----------------*- C++ -*-===//

#ifndef DTC_SUPPORT_RUNTOOL_H
#define DTC_SUPPORT_RUNTOOL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace dtc {

/// The result of a tool.
struct ToolResult {
  int code = 0;        ///< exit status; below 0 if it did not run or crashed
  std::string said;    ///< its standard output and error
  std::string problem; ///< the reason as one line; empty if `code` is 0
};

/// Runs a program and waits for its end. `arguments` begin with its name. A
/// signal that ends this process (SIGHUP, SIGINT, SIGTERM) first kills the
/// program and its children, so that nothing is written after temporary files
/// are removed. Runs one program at a time. Returns an error if there is no
/// temporary file for the program's output.
llvm::Expected<ToolResult> runTool(llvm::ArrayRef<llvm::StringRef> arguments);

} // namespace dtc

#endif // DTC_SUPPORT_RUNTOOL_H
