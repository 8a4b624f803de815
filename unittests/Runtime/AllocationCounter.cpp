//===- AllocationCounter.cpp - proves that a step does not allocate -------===//
//
// The executable's malloc family and mmap come before the C library's, for all
// the libraries in the process. Calls made by MPI are not counted: it is its
// own business how it moves messages. A sanitizer has a malloc of its own, with
// hooks.
//
//===----------------------------------------------------------------------===//

#include "AllocationCounter.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <initializer_list>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static std::atomic<bool> counting;
static std::atomic<long> allocations;

/// The search for the caller may itself allocate.
static thread_local bool searching;

/// Whether a library of MPI is among the callers.
static bool calledByMpi() {
  void *frames[64];
  int depth = backtrace(frames, 64);
  for (int i = 0; i < depth; ++i) {
    Dl_info info;
    if (!dladdr(frames[i], &info) || !info.dli_fname)
      continue;
    for (const char *library : {"libmpi", "libopen-", "mca_", "libpmix"})
      if (strstr(info.dli_fname, library))
        return true;
  }
  return false;
}

static void count() {
  if (!counting || searching)
    return;
  searching = true;
  if (!calledByMpi())
    ++allocations;
  searching = false;
}

void countAllocations(bool on) {
  if (on) {
    void *frame; // loads what backtrace needs before it is needed
    backtrace(&frame, 1);
  }
  counting = false;
  if (!on && allocations) {
    fprintf(stderr, "found %ld allocations in the steps, expected none\n",
            allocations.load());
    _exit(3);
  }
  counting = on;
}

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)

#include <sanitizer/allocator_interface.h>

__attribute__((constructor)) static void installHooks() {
  __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void *, size_t) { count(); },
      [](const volatile void *) {});
}

#else

extern "C" {

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
  count();
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count();
  return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
  count();
  return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  count();
  *result = __libc_memalign(alignment, size);
  return *result ? 0 : ENOMEM;
}

void *mmap(void *address, size_t length, int protection, int flags, int file,
           off_t offset) {
  count();
  return reinterpret_cast<void *>(
      syscall(SYS_mmap, address, length, protection, flags, file, offset));
}

} // extern "C"

#endif // a sanitizer
