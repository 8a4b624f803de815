//===- Stop.cpp - how signals end dtc-data --------------------------------===//

#include "Stop.h"

#include <csignal>
#include <stdexcept>

using namespace dtc::data;

static volatile std::sig_atomic_t stopSignal = 0;

void dtc::data::stopOnSignals() {
  for (int number : {SIGINT, SIGTERM, SIGHUP})
    if (signal(number, [](int number) { stopSignal = number; }) == SIG_IGN)
      signal(number, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

void dtc::data::throwIfStopped() {
  if (stopSignal)
    throw std::runtime_error("stopped by a signal");
}

void dtc::data::endBySignal() {
  if (!stopSignal)
    return;
  signal(stopSignal, SIG_DFL);
  raise(stopSignal);
}
