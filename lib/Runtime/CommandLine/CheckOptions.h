//===- CheckOptions.h - options that exclude or need each other -*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_COMMANDLINE_CHECKOPTIONS_H
#define DTC_LIB_RUNTIME_COMMANDLINE_CHECKOPTIONS_H

#include "Options/Options.h"
#include "Program/Program.h"

namespace CLI {
class App;
} // namespace CLI

namespace dtc::rt {

/// Throws an Error if options that are valid one by one do not fit together, or
/// do not fit the program. Sets the steps of --trace-steps, whose text is
/// `traceSteps`.
void checkOptions(const CLI::App &app, const Program &program, Options &options,
                  const std::string &traceSteps);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COMMANDLINE_CHECKOPTIONS_H
