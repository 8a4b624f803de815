//===- Fatal.cpp - what a parser must not call ----------------------------===//
//
// Replaces lib/Runtime/Core/Fatal.cpp: here, a call is a finding of the fuzzer.
//
//===----------------------------------------------------------------------===//

#include "Core/Fatal.h"
#include <cstdio>
#include <cstdlib>

void dtc::rt::fatal(const char *pattern, ...) {
  fprintf(stderr, "fatal: %s\n", pattern);
  abort();
}
