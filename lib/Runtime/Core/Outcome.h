//===- Outcome.h - whether an attempt failed --------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_CORE_OUTCOME_H
#define DTC_LIB_RUNTIME_CORE_OUTCOME_H

#include <exception>
#include <string>

namespace dtc::rt {

/// The result of an attempt, with the message of its error.
struct Outcome {
  bool failed = false;
  std::string message;
};

/// Calls `body` and catches its error.
template <typename Body> Outcome attempt(Body body) {
  try {
    body();
    return {};
  } catch (const std::exception &error) {
    return {true, error.what()};
  }
}

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CORE_OUTCOME_H
