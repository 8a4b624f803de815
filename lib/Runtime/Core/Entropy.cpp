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

/// A function of glibc since 2.36. The C++ library that is linked into programs
/// calls it if it was built for that, and an earlier glibc would refuse to load
/// them. Hidden: shared libraries have what their glibc has.
extern "C" [[gnu::visibility("hidden")]] uint32_t arc4random() noexcept {
  return uint32_t(drawEntropy());
}
