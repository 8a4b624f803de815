//===- Fatal.h - errors that end the whole job ------------------*- C++ -*-===//
//
// Calls inside a step do not throw: another rank may already wait for this one.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_CORE_FATAL_H
#define DTC_LIB_RUNTIME_CORE_FATAL_H

#include <string>

namespace dtc::rt {

/// A job that `fatal` can end.
class Abortable {
public:
  virtual ~Abortable() = default;

  /// Ends all ranks at once.
  [[noreturn]] virtual void abort() = 0;
};

/// Sets the name of this rank in messages, and the job that `fatal` ends; null
/// if this process is alone.
void setFatalContext(Abortable *job, std::string rankName);

/// From now on `fatal` ends this rank alone: there is no launcher to tell. Any
/// thread may call this.
void forgetFatalJob();

/// Reports an error that cannot be recovered from, in one line that names the
/// rank, and ends the whole job. Prints nothing if another rank of the machine
/// has reported the reason. For calls inside a step.
[[noreturn, gnu::format(printf, 1, 2)]] void fatal(const char *pattern, ...);

/// Whether `fatal` throws an Error instead from now on, so that a caller that
/// tries library calls can go on with the next.
void makeFatalThrow(bool isOn = true);

/// Functions of the code that watches other ranks of the machine. Signal
/// handlers may call both.
struct WatchHooks {
  bool (*claimReport)() = nullptr;
  void (*leaveBySignal)() = nullptr;
};
void setWatchHooks(const WatchHooks &hooks);

/// Whether this rank is the one of its machine that reports why the job ends:
/// the first that asks.
bool claimReport();

/// For the handler of a signal that stops this rank: other ranks do not report
/// it as lost. Gives the thread that watches other ranks time to report a rank
/// that is lost, because a launcher stops all ranks when one dies.
void leaveBySignal();

/// Does not return if another thread ends the job: the data that this thread
/// has waited for may be wrong.
void stopIfEnding();

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CORE_FATAL_H
