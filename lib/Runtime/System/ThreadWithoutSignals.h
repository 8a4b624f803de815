//===- ThreadWithoutSignals.h - threads beside the one that computes ------===//

#ifndef DTC_LIB_RUNTIME_SYSTEM_THREADWITHOUTSIGNALS_H
#define DTC_LIB_RUNTIME_SYSTEM_THREADWITHOUTSIGNALS_H

#include <csignal>
#include <thread>
#include <utility>

namespace dtc::rt {

/// Starts a thread that handles no signals, which are for the thread that
/// computes.
template <typename Body> std::thread startWithoutSignals(Body body) {
  sigset_t every, before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_SYSTEM_THREADWITHOUTSIGNALS_H
