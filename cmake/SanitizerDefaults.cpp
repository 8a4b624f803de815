//===- SanitizerDefaults.cpp - options and suppressions -------------------===//
//
// Every target of DTC_SANITIZE links this file, training programs included, so
// that each has the right options however it is started. ASAN_OPTIONS,
// UBSAN_OPTIONS, LSAN_OPTIONS and TSAN_OPTIONS override them. Only third-party
// libraries are suppressed.
//
//===----------------------------------------------------------------------===//

// Defined in programs that use MPI.
extern "C" __attribute__((weak)) int MPI_Init(int *, char ***);

extern "C" {

const char *__asan_default_options() {
  // allow_user_poisoning: LLVM's headers mark the memory of its allocators, and
  // dtc compiles them with the sanitizer. LLVM's libraries are built without
  // it, so the marks do not agree. abort_on_error: a finding must not look like
  // the exit code that a test expects of an error. handle_sigbus: the runtime
  // itself names a truncated mapped file. fast_unwind_on_malloc: suppressions
  // of MPI's leaks need all callers, which only the slow unwinder finds.
  return MPI_Init ? "allow_user_poisoning=0:abort_on_error=1:handle_sigbus=0:"
                    "fast_unwind_on_malloc=0"
                  : "allow_user_poisoning=0:abort_on_error=1:handle_sigbus=0";
}

const char *__ubsan_default_options() { return "print_stacktrace=1"; }

const char *__lsan_default_options() { return "print_suppressions=0"; }

const char *__lsan_default_suppressions() {
  return
      // OpenMPI keeps the memory of MPI_Init and its plug-ins until the process
      // ends.
      "leak:libmpi.so\n"
      "leak:libopen-pal.so\n"
      "leak:libopen-rte.so\n"
      "leak:mca_\n"
      // So does its event loop, on a separate thread.
      "leak:libevent_core\n"
      "leak:libevent_pthreads\n";
}

const char *__tsan_default_options() {
  // MPI and OpenMP synchronize by their own atomics and futexes. The sanitizer
  // does not see these, because it has not compiled the libraries.
  return "abort_on_error=1:handle_sigbus=0:ignore_noninstrumented_modules=1";
}

} // extern "C"
