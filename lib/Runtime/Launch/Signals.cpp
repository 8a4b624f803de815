//===- Signals.cpp - what a rank does when it is told to stop -------------===//

#include "Signals.h"

#include "Core/Fatal.h"
#include "Environment.h"
#include "StopRequests.h"
#include "System/MappedFile.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <unistd.h>

using namespace dtc::rt;

/// What the signal handlers write; made beforehand, for they may not format.
static char stopLine[256], crashLine[256];

static volatile sig_atomic_t asked = 0;
static StopRequests requests;
static bool asks = false;

bool dtc::rt::isIgnored(int signal) {
  struct sigaction former;
  return sigaction(signal, nullptr, &former) == 0 &&
         former.sa_handler == SIG_IGN;
}

int dtc::rt::stopSignal() { return asked; }

/// A step cannot be left half done on some ranks only. Where there is nothing
/// that a stop would lose, as every line written is already in its file, nobody
/// waits for its end.
static void stopBySignal(int signal) {
  if (asks && !asked)
    asked = signal;
  if (asks && (!requests.isAnother() || signal == SIGUSR1))
    return;
  (void)!write(STDERR_FILENO, stopLine, strlen(stopLine));
  leaveBySignal();
  _exit(128 + signal);
}

/// Names the rank, then dies as if there were no handler; the launcher takes
/// the others down. Replaces the stack traces that MPI would print.
static void crash(int number, siginfo_t *info, void *) {
  bool reports = claimReport();
  if (reports && number == SIGBUS)
    exitIfFileFault(info->si_addr);
  if (reports)
    (void)!write(STDERR_FILENO, crashLine, strlen(crashLine));
  signal(number, SIG_DFL);
  raise(number);
}

void dtc::rt::handleSignals(const std::string &name, bool bar,
                            bool finishesStep) {
  asks = finishesStep;
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
  for (int number : {SIGINT, SIGTERM, SIGUSR1})
    if (!isIgnored(number))
      signal(number, stopBySignal);
  struct sigaction action = {};
  action.sa_sigaction = crash;
  action.sa_flags = SA_SIGINFO;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    sigaction(number, &action, nullptr);
}

void dtc::rt::ignoreSizeLimit() { signal(SIGXFSZ, SIG_IGN); }
