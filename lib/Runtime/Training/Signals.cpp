//===- Signals.cpp - what a rank does when it is told to stop -------------===//

#include "Signals.h"

#include "Core/Launch.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace dtc::rt;

/// What the signal handlers write; made beforehand, for they may not format.
static char stopLine[256], crashLine[256];

/// A step cannot be left half done on some ranks only, and there is nothing
/// that a stop would lose: every line written is already in its file.
static void stopBySignal(int signal) {
  (void)!write(STDERR_FILENO, stopLine, strlen(stopLine));
  _exit(128 + signal);
}

/// Names the rank, then dies as if there were no handler; the launcher takes
/// the others down. Replaces the stack traces that MPI would print.
static void crash(int number) {
  (void)!write(STDERR_FILENO, crashLine, strlen(crashLine));
  signal(number, SIG_DFL);
  raise(number);
}

void dtc::rt::handleSignals(const std::string &name, bool bar) {
  const char *newline = bar ? "\n" : "";
  // Under a launcher it is the launcher that says that it was stopped.
  if (startedByLauncher())
    snprintf(stopLine, sizeof stopLine, "%s", newline);
  else
    snprintf(stopLine, sizeof stopLine, "%s%.200sstopped by a signal\n",
             newline, name.c_str());
  snprintf(crashLine, sizeof crashLine,
           "%s%.200serror: this rank crashed in a step\n", newline,
           name.c_str());
  for (int number : {SIGINT, SIGTERM})
    signal(number, stopBySignal);
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    signal(number, crash);
}
