//===- dtc.cpp - the distributed-training compiler ------------------------===//

#include "dtc/Driver/Driver.h"
#include "llvm/Support/InitLLVM.h"

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  std::optional<dtc::DriverOptions> options = dtc::parseCommandLine(argc, argv);
  return options && mlir::succeeded(dtc::compileModel(*options)) ? 0 : 1;
}
