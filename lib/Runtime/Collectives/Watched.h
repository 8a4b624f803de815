//===- Watched.h - no rank waits for ever for one that is lost --*- C++ -*-===//
//
// Wraps the engine of ranks on CPUs. It publishes the operation that this rank
// waits for to the other ranks of the machine. A thread ends the job when one
// of them dies, or when this rank has waited too long.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_WATCHED_H
#define DTC_LIB_RUNTIME_COLLECTIVES_WATCHED_H

#include "Collectives.h"

namespace dtc::rt {

/// `engine` works over `launched`; if it is null, `launched` is wrapped. A call
/// of a step may wait for `timeout` seconds.
std::unique_ptr<Collectives>
makeWatchedCollectives(std::unique_ptr<Collectives> engine,
                       Collectives &launched, int timeout);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_WATCHED_H
