//===- dtc.cpp - the distributed-training compiler ------------------------===//

#include "dtc/Driver/Driver.h"
#include "llvm/Support/InitLLVM.h"
#include <csignal>

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  std::signal(SIGXFSZ, SIG_IGN); // a file that grows too large is an error
  std::optional<dtc::DriverOptions> options = dtc::parseCommandLine(argc, argv);
  return options && mlir::succeeded(dtc::compileModel(*options)) ? 0 : 1;
}
