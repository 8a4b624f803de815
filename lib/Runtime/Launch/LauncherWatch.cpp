//===- LauncherWatch.cpp - no rank outlives its launcher ------------------===//

#include "LauncherWatch.h"

#include "Core/Fatal.h"
#include "Signals.h"
#include "System/ThreadWithoutSignals.h"

#include <algorithm>
#include <climits>
#include <fstream>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <unistd.h>

using namespace dtc::rt;

/// Whether a process has a variable. The environment of another user's process
/// cannot be read; such a process is not a script between launcher and rank.
static bool hasVariable(pid_t process, const char *name) {
  std::ifstream file("/proc/" + std::to_string(process) + "/environ");
  for (std::string entry; std::getline(file, entry, '\0');)
    if (entry.starts_with(std::string(name) + "="))
      return true;
  return false;
}

LauncherWatch::LauncherWatch(const Environment &environment, int timeout)
    : name(environment.name), secondsOfMpi(environment.servesMpi),
      timeout(timeout) {
  if (!environment.mark)
    return;
  pid_t child = getpid();
  std::optional<ProcessStatus> status = readStatus(child);
  while (status && status->parent > 0 &&
         hasVariable(status->parent, environment.mark)) {
    child = status->parent;
    status = readStatus(child);
  }
  if (!status || status->parent <= 0)
    return;
  number = status->parent;
  launcher.emplace(number);
  // A process has its parent's session, or leads one. Otherwise its launcher
  // had ended before this rank looked, and the system gave it another parent.
  isOrphan = status->session != child && getsid(number) != status->session;
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
  while (!isOrphan && !launcher->hasEnded()) {
    poll(events, 2, period);
    if (events[0].revents)
      return;
  }
  int64_t seconds = stopSignal() ? timeout : secondsOfMpi;
  if (poll(events, 1, int(std::min<int64_t>(1000 * seconds, INT_MAX))) == 1)
    return;
  forgetFatalJob();
  if (isOrphan)
    fatal("%s, which started this rank, has ended before the rank was ready; "
          "see why, then start again with --resume",
          name);
  fatal("%s (process %d), which started this rank, has ended; see why, then "
        "start again with --resume",
        name, int(number));
}
