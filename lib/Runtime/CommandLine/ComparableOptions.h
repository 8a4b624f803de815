//===- ComparableOptions.h - options that ranks compare ---------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_COMMANDLINE_COMPARABLEOPTIONS_H
#define DTC_LIB_RUNTIME_COMMANDLINE_COMPARABLEOPTIONS_H

#include "Options/Options.h"

namespace CLI {
class App;
} // namespace CLI

namespace dtc::rt {

/// The options of the command line in a form in which two ranks may be
/// compared: "--lr" and "0.01", by name; "" for an option that is not given.
/// Options that may differ between ranks are left out, or have the same text on
/// all ranks.
GivenOptions comparableOptions(const CLI::App &app);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COMMANDLINE_COMPARABLEOPTIONS_H
