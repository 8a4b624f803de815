//===- TemporaryOwner.h - owners of temporary files -------------*- C++ -*-===//
//
// A process cannot remove its temporary files after SIGKILL. So their names
// contain the process, and later processes remove the files of processes that
// have ended.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SUPPORT_TEMPORARYOWNER_H
#define DTC_SUPPORT_TEMPORARYOWNER_H

#include <string>

namespace dtc {

/// The prefix of names of this process's temporary files,
/// "dtc-MACHINE-PROCESS-START-". Machines and containers may share a folder, so
/// MACHINE is a checksum that differs between kernels, boots and containers.
const std::string &temporaryPrefix();

/// Removes files of `folder` whose names consist of `before`, the prefix of an
/// ended process of this machine, and more. Only the first call for a folder
/// has an effect. Keeps files that it cannot remove.
void removeAbandoned(const std::string &folder, const std::string &before);

} // namespace dtc

#endif // DTC_SUPPORT_TEMPORARYOWNER_H
