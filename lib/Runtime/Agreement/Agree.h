//===- Agree.h - all ranks fail, or none ------------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_AGREEMENT_AGREE_H
#define DTC_LIB_RUNTIME_AGREEMENT_AGREE_H

#include "Collectives/Collectives.h"
#include "Core/Outcome.h"

namespace dtc::rt {

/// Thrown on all ranks when some failed, after the lowest of them has reported
/// its error.
struct Reported {};

/// Throws Reported if any rank failed. `name` is that of the program. All ranks
/// call this.
void agree(Collectives &collectives, const Outcome &outcome,
           const std::string &name);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_AGREEMENT_AGREE_H
