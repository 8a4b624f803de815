//===- Version.h - the output of --version ----------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_COMMANDLINE_VERSION_H
#define DTC_LIB_RUNTIME_COMMANDLINE_VERSION_H

#include <string>

namespace dtc::rt {

struct Program;

/// Four lines: the version of the runtime with its interface number
/// (DTC_ABI_VERSION), which the compiler must share; the model; the plan; the
/// target.
std::string describeVersion(const Program &program);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COMMANDLINE_VERSION_H
