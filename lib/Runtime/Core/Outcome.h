//===- Outcome.h - all ranks fail, or none ----------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_CORE_OUTCOME_H
#define DTC_LIB_RUNTIME_CORE_OUTCOME_H

#include "Collectives/Collectives.h"

#include <string>

namespace dtc::rt {

/// Tells an attempt that failed from one that did not.
struct Outcome {
  bool failed = false;
  std::string message;
};

template <typename Body> Outcome attempt(Body body) {
  try {
    body();
    return {};
  } catch (const std::exception &error) {
    return {true, error.what()};
  }
}

/// Thrown on all ranks when some failed, after the first of them said why.
struct Reported {};

/// Throws Reported if any rank failed. `name` is that of the program. Met by
/// all ranks.
void agree(Collectives &collectives, const Outcome &outcome,
           const std::string &name);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CORE_OUTCOME_H
