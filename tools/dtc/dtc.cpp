//===- dtc.cpp - the distributed-training compiler ------------------------===//

#include "dtc/Driver/ComparePlans.h"
#include "dtc/Driver/Driver.h"
#include "dtc/Driver/ScalePlans.h"
#include "dtc/Support/EndingSignals.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include <csignal>

/// The path of this executable, which may have been found in $PATH.
static std::string findItself(const char *name) {
  return llvm::sys::fs::getMainExecutable(
      name, reinterpret_cast<void *>(&findItself));
}

int main(int argc, char **argv) {
  dtc::handleEndingSignals();
  llvm::InitLLVM init(argc, argv);
  std::signal(SIGXFSZ,
              SIG_IGN); // exceeding the file size limit becomes a write error
  llvm::ArrayRef<const char *> arguments(argv, size_t(argc));
  if (argc > 1 && llvm::StringRef(argv[1]) == "compare")
    return succeeded(
               dtc::comparePlans(findItself(argv[0]), arguments.drop_front(2)))
               ? 0
               : 1;
  if (argc > 1 && llvm::StringRef(argv[1]) == "scale")
    return succeeded(
               dtc::scalePlans(findItself(argv[0]), arguments.drop_front(2)))
               ? 0
               : 1;
  std::optional<dtc::DriverOptions> options = dtc::parseCommandLine(argc, argv);
  return options && mlir::succeeded(dtc::compileModel(*options)) ? 0 : 1;
}
