//===- Watched.h - no rank waits for ever for one that is lost --*- C++ -*-===//
//
// Around the engine of a CPU's ranks: says what this rank waits for, where the
// other ranks of the machine can see it, and has a thread that ends the job
// when one of them dies, or when this rank has waited too long.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_WATCHED_H
#define DTC_LIB_RUNTIME_COLLECTIVES_WATCHED_H

#include "Collectives.h"

namespace dtc::rt {

/// `engine` may be null: then it is `launched`, over which it works otherwise.
/// A call of a step may wait for `timeout` seconds.
std::unique_ptr<Collectives>
makeWatchedCollectives(std::unique_ptr<Collectives> engine,
                       Collectives &launched, int timeout);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_WATCHED_H
