//===- Version.h - the version that --version prints ------------*- C++ -*-===//
//
// One string for tools and training programs, from the project version in
// CMakeLists.txt (cmake/Version.cmake). No LLVM: the runtime has it, too.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SUPPORT_VERSION_H
#define DTC_SUPPORT_VERSION_H

namespace dtc {

/// "0.1.0", or "0.1.0 (4fdd7d59bd1e)" with the commit that the build folder was
/// configured at, if the sources were a git checkout.
const char *getVersion();

} // namespace dtc

#endif // DTC_SUPPORT_VERSION_H
