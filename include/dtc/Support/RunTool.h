//===- RunTool.h - run a linker or an assembler -----------------*- C++ -*-===//

#ifndef DTC_SUPPORT_RUNTOOL_H
#define DTC_SUPPORT_RUNTOOL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace dtc {

/// How a tool ended.
struct ToolResult {
  int code = 0;        ///< exit status; below 0 if it did not run or crashed
  std::string said;    ///< its standard output and error
  std::string problem; ///< one line that says why; empty if `code` is 0
};

/// Runs a program to its end; `arguments` begin with its name. A signal that
/// ends this process (SIGHUP, SIGINT, SIGTERM) first ends the program and what
/// it started, so that nothing is written after temporary files are removed.
/// One at a time. An error says that there is no place for what it says.
llvm::Expected<ToolResult> runTool(llvm::ArrayRef<llvm::StringRef> arguments);

} // namespace dtc

#endif // DTC_SUPPORT_RUNTOOL_H
