//===- Allocations.cpp - counts the calls that get memory -----------------===//
//
// Comes before the C library's malloc family and mmap, for all libraries and
// threads of the process. Calls made by MPI are not counted: it is its own
// business how it moves messages.
//
//===----------------------------------------------------------------------===//

#include "Observer.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <initializer_list>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
}

static std::atomic<int64_t> allocations;

/// The search for the caller may itself allocate. In a static block of the
/// thread, for a dynamic one would be allocated.
__attribute__((tls_model("initial-exec"))) static thread_local bool searching;

/// Whether a library of MPI is among the callers.
static bool calledByMpi() {
  void *frames[64];
  int depth = backtrace(frames, 64);
  for (int i = 0; i < depth; ++i) {
    Dl_info info;
    if (!dladdr(frames[i], &info) || !info.dli_fname)
      continue;
    for (const char *library :
         {"libmpi", "libopen-", "mca_", "libpmix", "libevent"})
      if (strstr(info.dli_fname, library))
        return true;
  }
  return false;
}

static void count() {
  if (!dtc::observer::inStep() || searching)
    return;
  searching = true;
  if (!calledByMpi())
    ++allocations;
  searching = false;
}

int64_t dtc::observer::countAllocations() { return allocations; }

void dtc::observer::prepareAllocations() { calledByMpi(); }

/// A sanitizer's malloc, in the program, comes before all others, and calls
/// hooks.
extern "C" __attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(
    void (*)(const volatile void *, size_t), void (*)(const volatile void *));

__attribute__((constructor)) static void installHooks() {
  if (__sanitizer_install_malloc_and_free_hooks)
    __sanitizer_install_malloc_and_free_hooks(
        [](const volatile void *, size_t) { count(); },
        [](const volatile void *) {});
}

extern "C" {

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

void *memalign(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
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

void *mmap64(void *address, size_t length, int protection, int flags, int file,
             off64_t offset) {
  return mmap(address, length, protection, flags, file, offset);
}

} // extern "C"
