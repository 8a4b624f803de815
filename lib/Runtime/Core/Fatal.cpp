//===- Fatal.cpp - errors that end the whole job --------------------------===//

#include "Fatal.h"

#include "Error.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace dtc::rt;

static std::atomic<Abortable *> fatalJob = nullptr;
static std::atomic<bool> isEnding = false;
static bool fatalThrows = false;
static WatchHooks watchHooks;

void dtc::rt::setWatchHooks(const WatchHooks &hooks) { watchHooks = hooks; }

bool dtc::rt::claimReport() {
  return !watchHooks.claimReport || watchHooks.claimReport();
}

void dtc::rt::leaveBySignal() {
  if (watchHooks.leaveBySignal)
    watchHooks.leaveBySignal();
}

void dtc::rt::setFatalContext(Abortable *job, std::string rankName) {
  fatalJob = job;
  setLinePrefix(std::move(rankName));
}

void dtc::rt::forgetFatalJob() { fatalJob = nullptr; }

void dtc::rt::stopIfEnding() {
  while (isEnding)
    pause();
}

void dtc::rt::makeFatalThrow(bool isOn) { fatalThrows = isOn; }

void dtc::rt::fatal(const char *pattern, ...) {
  if (fatalThrows) {
    char text[1024];
    va_list arguments;
    va_start(arguments, pattern);
    vsnprintf(text, sizeof text, pattern, arguments);
    va_end(arguments);
    throw Error(text);
  }
  if (isEnding.exchange(true)) // one error is enough
    stopIfEnding();
  // One write: lines of several ranks do not mix.
  char line[1024];
  int used = snprintf(line, sizeof line, "%serror: ", linePrefix());
  va_list arguments;
  va_start(arguments, pattern);
  int room = int(sizeof line) - used - 1;
  int length = vsnprintf(line + used, room, pattern, arguments);
  va_end(arguments);
  used += length < room ? length : room - 1;
  line[used++] = '\n';
  if (claimReport())
    (void)!write(STDERR_FILENO, line, used);
  else
    usleep(200000); // another rank writes its report meanwhile
  if (Abortable *job = fatalJob)
    job->abort();
  _Exit(1);
}
