//===- OutputLock.h - one writer for each output ----------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_SYSTEM_OUTPUTLOCK_H
#define DTC_LIB_RUNTIME_SYSTEM_OUTPUTLOCK_H

#include <string>
#include <sys/types.h>
#include <vector>

namespace dtc::rt {

/// Sees to it that no two options of a job, and no two jobs, write one file or
/// folder. Files are the same whatever path, symbolic link or hard link names
/// them.
///
/// A lock on an output is an abstract Unix socket (man 7 unix) named by device
/// and inode of its folder and by its file name. The kernel removes it with the
/// process, so a job that is killed leaves nothing behind. It reaches as far as
/// the network namespace: jobs on two machines, or in two containers, that
/// write one file of a shared file system do not see each other.
class OutputLock {
public:
  OutputLock() = default;
  OutputLock(const OutputLock &) = delete;
  ~OutputLock();

  /// Takes what `option` names. Nothing happens for an empty path, for devices,
  /// and where the folder is missing: opening the file says so. Throws if
  /// another option of this job, or another job, has it, or if it is a pipe
  /// that no program reads: opening it would wait.
  void take(const std::string &option, const std::string &path);

private:
  struct Taken {
    std::string option, path, name;
    dev_t device; ///< of the file, if there is one: `inode` is not 0
    ino_t inode;
    int socket; ///< or the pipe
  };
  std::vector<Taken> taken;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_SYSTEM_OUTPUTLOCK_H
