//===- ParseOptions.h - command line of a training program ------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_COMMANDLINE_PARSEOPTIONS_H
#define DTC_LIB_RUNTIME_COMMANDLINE_PARSEOPTIONS_H

#include "Options/Options.h"

namespace dtc::rt {

/// Parses the command line. Throws an Error on wrong values. If an option
/// counts epochs, `settleSteps` (Epochs.h) makes the checks that depend on the
/// number of steps. On --help and --version returns nothing and leaves the text
/// in `help`.
std::optional<Options> parseOptions(const Program &program, int argc,
                                    char **argv, std::string &help);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COMMANDLINE_PARSEOPTIONS_H
