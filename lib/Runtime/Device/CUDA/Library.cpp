//===- Library.cpp - a shared library, opened when it is needed -----------===//

#include "Library.h"

#include "Core/Error.h"

#include <cstring>
#include <dlfcn.h>

using namespace dtc::rt;

Library::Library(const char *what, std::initializer_list<const char *> names,
                 const char *advice)
    : handle(nullptr) {
  std::string reason;
  for (const char *candidate : names) {
    handle = dlopen(candidate, RTLD_NOW | RTLD_GLOBAL);
    name = candidate;
    if (handle)
      return;
    const char *error = dlerror();
    // The first error of a library that exists is reported. Missing
    // alternatives are not.
    if (error && (!strstr(error, (name + ": cannot open").c_str()) ||
                  !strstr(error, "No such file")))
      reason = format("; the loader says: %s", error);
  }
  fail("found no %s (%s), which this program needs; %s%s", what, *names.begin(),
       advice, reason.c_str());
}

void *Library::find(const char *symbol) const {
  void *address = dlsym(handle, symbol);
  if (!address)
    fail("%s has no function %s, expected a newer version", name.c_str(),
         symbol);
  return address;
}
