//===- Signals.cpp - signals that stop a rank -----------------------------===//

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

/// Lines that the signal handlers write; formatted beforehand, because handlers
/// may not format.
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

/// Asks for a stop after this step, because no rank may leave a step half done.
/// If a stop loses nothing, since every line is already in its file, the rank
/// ends at once.
static void stopBySignal(int signal) {
  if (asks && !asked)
    asked = signal;
  if (asks && (!requests.isAnother() || signal == SIGUSR1))
    return;
  (void)!write(STDERR_FILENO, stopLine, strlen(stopLine));
  leaveBySignal();
  _exit(128 + signal);
}

/// Prints the rank's name, then dies as if there were no handler. The launcher
/// ends the other ranks. Replaces the stack traces that MPI would print.
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
  // Under a launcher, the launcher reports the stop.
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
