//===- Weights.cpp - the weights file of a program ------------------------===//
//
// See Weights.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Frontend/Weights.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace dtc;

LogicalResult dtc::writeWeights(Location location, StringRef path,
                                const ParameterTable &parameters) {
  std::string temporary = (path + ".part").str();
  if (llvm::Error error = writeSafetensors(temporary, parameters)) {
    (void)llvm::sys::fs::remove(temporary);
    return emitError(location, "cannot write weights: ")
           << llvm::toString(std::move(error));
  }
  if (std::error_code error = llvm::sys::fs::rename(temporary, path))
    return emitError(location, "cannot write ")
           << path << ": " << error.message();
  return success();
}
