//===- LauncherWatch.cpp - no rank outlives its launcher ------------------===//

#include "LauncherWatch.h"

#include "Context.h"
#include "ThreadWithoutSignals.h"
#include "Training/Signals.h"

#include <fstream>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <unistd.h>

using namespace dtc::rt;

/// Whether a process has a variable. The environment of another user's process
/// cannot be read: it is no script of this user's.
static bool hasVariable(pid_t process, const char *name) {
  std::ifstream file("/proc/" + std::to_string(process) + "/environ");
  for (std::string entry; std::getline(file, entry, '\0');)
    if (entry.starts_with(std::string(name) + "="))
      return true;
  return false;
}

/// 0 if there is none that this process can see.
static pid_t parentOf(pid_t process) {
  std::optional<ProcessStatus> status = readStatus(process);
  return status ? status->parent : 0;
}

LauncherWatch::LauncherWatch(const Environment &environment, int timeout)
    : name(environment.name), secondsOfMpi(environment.servesMpi),
      timeout(timeout) {
  if (!environment.mark)
    return;
  number = getppid();
  while (number > 0 && hasVariable(number, environment.mark))
    number = parentOf(number);
  if (number <= 0)
    return;
  launcher.emplace(number);
  ending = eventfd(0, EFD_CLOEXEC);
  thread = startWithoutSignals([this] { wait(); });
}

LauncherWatch::~LauncherWatch() {
  if (!thread.joinable())
    return;
  eventfd_write(ending, 1);
  thread.join();
  close(ending);
}

void LauncherWatch::wait() const {
  pollfd events[] = {{ending, POLLIN, 0}, {launcher->file(), POLLIN, 0}};
  int period = launcher->file() >= 0 ? -1 : 100; // milliseconds
  while (!launcher->hasEnded()) {
    poll(events, 2, period);
    if (events[0].revents)
      return;
  }
  int seconds = stopSignal() ? timeout : secondsOfMpi;
  if (poll(events, 1, 1000 * seconds) == 1)
    return;
  forgetFatalCollectives();
  fatal("%s (process %d), which started this rank, has ended; see why, then "
        "start again with --resume",
        name, int(number));
}
