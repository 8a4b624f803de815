//===- OtherProcess.h - a process that may end at any time ------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_SYSTEM_OTHERPROCESS_H
#define DTC_LIB_RUNTIME_SYSTEM_OTHERPROCESS_H

#include <optional>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace dtc::rt {

/// A running process of this machine. A pidfd refers to it (man 2 pidfd_open),
/// because the system may give its number to another process later. Systems
/// without pidfds refer to it by number.
class OtherProcess {
public:
  explicit OtherProcess(pid_t number);
  ~OtherProcess();
  OtherProcess(OtherProcess &&other) noexcept
      : number(other.number), descriptor(std::exchange(other.descriptor, -1)) {}
  OtherProcess &operator=(OtherProcess &&) = delete;

  /// Becomes readable for poll when the process ends; -1 without pidfds.
  int file() const { return descriptor; }
  /// Also true if the parent has not waited for it yet.
  bool hasEnded() const;
  /// Sends SIGKILL; does nothing on systems without pidfds.
  void kill() const;

private:
  pid_t number;
  int descriptor;
};

/// The state of a process as the system reports it.
struct ProcessStatus {
  char state;    ///< 'Z': the process has ended, and its parent has not waited
  pid_t parent;  ///< 0 if this process cannot see its parent
  pid_t session; ///< number of the session's leader
};

/// Empty if there is no such process.
std::optional<ProcessStatus> readStatus(pid_t process);

/// The children of a process that have not ended. Empty if the system does not
/// list children.
std::optional<std::vector<pid_t>> runningChildren(pid_t process);

/// Whether `process` runs the same executable file as `other`. Empty if
/// `process` has ended. False if it belongs to another user.
std::optional<bool> runsProgramOf(pid_t process, pid_t other);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_SYSTEM_OTHERPROCESS_H
