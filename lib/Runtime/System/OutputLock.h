//===- OutputLock.h - one writer for each output ----------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_SYSTEM_OUTPUTLOCK_H
#define DTC_LIB_RUNTIME_SYSTEM_OUTPUTLOCK_H

#include <string>
#include <sys/types.h>
#include <vector>

namespace dtc::rt {

/// Prevents two options of a job, or two jobs, from writing one file or folder.
/// A file is the same under any path, symbolic link or hard link.
///
/// A lock is an abstract Unix socket (man 7 unix) named by device and inode of
/// the output's folder and by the file name. The kernel removes it with the
/// process, so a job that is killed leaves nothing behind. It works within one
/// network namespace: jobs on two machines, or in two containers, do not see
/// each other's locks on a shared file system.
class OutputLock {
public:
  OutputLock() = default;
  OutputLock(const OutputLock &) = delete;
  ~OutputLock();

  /// Locks the output that `option` names. Does nothing for an empty path, for
  /// devices, and if the folder is missing, because opening the file reports
  /// that. Throws an Error if another option of this job, or another job, has
  /// the output, or if it is a pipe without a reader, for which opening would
  /// wait.
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
