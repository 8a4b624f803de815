//===- OtherProcess.h - a process that may end at any time ------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_CORE_OTHERPROCESS_H
#define DTC_LIB_RUNTIME_CORE_OTHERPROCESS_H

#include <optional>
#include <sys/types.h>
#include <utility>

namespace dtc::rt {

/// A process of this machine that runs now. Its number may be given to another
/// process later, so this refers to it by a pidfd (man 2 pidfd_open), and by
/// its number on systems without.
class OtherProcess {
public:
  explicit OtherProcess(pid_t number);
  ~OtherProcess();
  OtherProcess(OtherProcess &&other) noexcept
      : number(other.number), descriptor(std::exchange(other.descriptor, -1)) {}
  OtherProcess &operator=(OtherProcess &&) = delete;

  /// Becomes readable for poll when the process ends; -1 on systems without.
  int file() const { return descriptor; }
  /// Also if nobody has waited for it yet.
  bool hasEnded() const;
  /// Sends SIGKILL; does nothing on systems without pidfds.
  void kill() const;

private:
  pid_t number;
  int descriptor;
};

/// What the system says of a process.
struct ProcessStatus {
  char state;   ///< 'Z': it has ended, and nobody has waited for it yet
  pid_t parent; ///< 0 if this process cannot see it
};

/// Nothing if there is no such process.
std::optional<ProcessStatus> readStatus(pid_t process);

/// Whether a process that it has started still runs. True if the system does
/// not say.
bool hasRunningChildren(pid_t process);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CORE_OTHERPROCESS_H
