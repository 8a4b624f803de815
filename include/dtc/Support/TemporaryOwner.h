//===- TemporaryOwner.h - whose temporary files are these -------*- C++ -*-===//
//
// A process that gets SIGKILL cannot remove its temporary files. So their names
// say whose they are, and a later process removes those of processes that have
// ended.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SUPPORT_TEMPORARYOWNER_H
#define DTC_SUPPORT_TEMPORARYOWNER_H

#include <string>

namespace dtc {

/// "dtc-MACHINE-PROCESS-START-", the begin of names of this process's temporary
/// files. MACHINE is a checksum of what tells kernels, their starts and
/// containers apart: folders may be shared by several.
const std::string &temporaryPrefix();

/// Removes the files of `folder` whose names have, after `before`, such a
/// prefix of a process of this machine that has ended. Only the first call for
/// a folder does anything. Leaves what cannot be removed.
void removeAbandoned(const std::string &folder, const std::string &before);

} // namespace dtc

#endif // DTC_SUPPORT_TEMPORARYOWNER_H
