//===- Version.h - what a training program's --version prints ---*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_COMMANDLINE_VERSION_H
#define DTC_LIB_RUNTIME_COMMANDLINE_VERSION_H

#include <string>

namespace dtc::rt {

struct Program;

/// Four lines: the version of the runtime with the number of its interface
/// (DTC_ABI_VERSION), which is that of the compiler or the program would not
/// start; the model; the plan; the target.
std::string describeVersion(const Program &program);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COMMANDLINE_VERSION_H
