//===- Signals.h - what a rank does when it is told to stop -----*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_SIGNALS_H
#define DTC_LIB_RUNTIME_TRAINING_SIGNALS_H

#include <string>

namespace dtc::rt {

/// From now on. `name` is how this rank is called in messages; `bar` is whether
/// it draws a progress bar, which a message must leave.
void handleSignals(const std::string &name, bool bar);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_SIGNALS_H
