//===- Version.h - the version that --version prints ------------*- C++ -*-===//
//
// One string for tools and training programs, from the project version in
// CMakeLists.txt (cmake/Version.cmake). No LLVM, because the runtime uses it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SUPPORT_VERSION_H
#define DTC_SUPPORT_VERSION_H

namespace dtc {

/// The version, such as "0.1.0". If the sources were a git checkout, it
/// includes the commit at which the build folder was configured: "0.1.0
/// (4fdd7d59bd1e)".
const char *getVersion();

} // namespace dtc

#endif // DTC_SUPPORT_VERSION_H
