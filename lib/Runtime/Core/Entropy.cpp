//===- Entropy.cpp - random numbers of the system -------------------------===//

#include "Entropy.h"

#include <cstdlib>
#include <unistd.h>

using namespace dtc::rt;

uint64_t dtc::rt::drawEntropy() {
  uint64_t number;
  // Fails only for more bytes than 256, or before Linux 3.17.
  if (getentropy(&number, sizeof number) != 0)
    abort();
  return number;
}

/// A function of glibc since 2.36. A C++ library that was built for it calls it
/// from programs, and an older glibc would refuse to load them. It is hidden,
/// so shared libraries use the function of their glibc.
extern "C" [[gnu::visibility("hidden")]] uint32_t arc4random() noexcept {
  return uint32_t(drawEntropy());
}
