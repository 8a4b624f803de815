//===- SanitizerDefaults.cpp - options and suppressions -------------------===//
//
// Linked into everything that is built with DTC_SANITIZE, training programs
// included, so that each runs as it should wherever it is started.
// ASAN_OPTIONS, UBSAN_OPTIONS, LSAN_OPTIONS and TSAN_OPTIONS override this.
// Only third-party libraries are suppressed.
//
//===----------------------------------------------------------------------===//

// Defined in programs that use MPI.
extern "C" __attribute__((weak)) int MPI_Init(int *, char ***);

extern "C" {

const char *__asan_default_options() {
  // LLVM's allocators mark their memory in headers, which dtc compiles with
  // the sanitizer, and not in its libraries, which are built without: marks do
  // not agree (allow_user_poisoning). A finding must not look like the exit
  // code that a test expects of an error (abort_on_error). The runtime says
  // itself which mapped file was truncated (handle_sigbus). MPI's leaks are
  // known by all of their callers, which only the slow unwinder finds.
  return MPI_Init ? "allow_user_poisoning=0:abort_on_error=1:handle_sigbus=0:"
                    "fast_unwind_on_malloc=0"
                  : "allow_user_poisoning=0:abort_on_error=1:handle_sigbus=0";
}

const char *__ubsan_default_options() { return "print_stacktrace=1"; }

const char *__lsan_default_options() { return "print_suppressions=0"; }

const char *__lsan_default_suppressions() {
  return
      // OpenMPI keeps what MPI_Init and its plug-ins allocate until the process
      // ends.
      "leak:libmpi.so\n"
      "leak:libopen-pal.so\n"
      "leak:libopen-rte.so\n"
      "leak:mca_\n"
      // So does its event loop, on a thread of its own.
      "leak:libevent_core\n"
      "leak:libevent_pthreads\n";
}

const char *__tsan_default_options() {
  // MPI and OpenMP synchronize by atomics and futexes of their own, which the
  // sanitizer does not see since it has not compiled them.
  return "abort_on_error=1:handle_sigbus=0:ignore_noninstrumented_modules=1";
}

} // extern "C"
