//===- Fatal.cpp - what a parser must not call ----------------------------===//
//
// In the place of lib/Runtime/Core/Context.cpp, which needs the whole runtime.
//
//===----------------------------------------------------------------------===//

#include "Core/Elements.h"
#include <cstdio>
#include <cstdlib>

void dtc::rt::fatal(const char *pattern, ...) {
  fprintf(stderr, "fatal: %s\n", pattern);
  abort();
}
