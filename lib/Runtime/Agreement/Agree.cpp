//===- Agree.cpp - all ranks fail, or none --------------------------------===//

#include "Agree.h"

#include "Core/Error.h"

#include <cstdio>

using namespace dtc::rt;

void dtc::rt::agree(Collectives &collectives, const Outcome &outcome,
                    const std::string &name) {
  int first = collectives.firstFailed(outcome.failed);
  if (first < 0)
    return;
  if (first == collectives.rank()) {
    // If all ranks fail, rank 0 reports the error. The error of another rank
    // names that rank.
    std::string who = first ? format(": rank %d", first) : "";
    fprintf(stderr, "%s%s: error: %s\n", name.c_str(), who.c_str(),
            outcome.message.c_str());
  }
  throw Reported();
}
