//===- ClassWeights.h - values of --class-weights ---------------*- C++ -*-===//
//
// Numbers on the command line, or in a .npy file.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_OPTIONS_CLASSWEIGHTS_H
#define DTC_LIB_OPTIONS_CLASSWEIGHTS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace dtc {

/// Reads the weights of "X,X,..." or of "FILE.npy", an array with one dimension
/// of f32 or f64. There is at least one weight. The error is one line.
llvm::Expected<std::vector<double>> readClassWeights(llvm::StringRef text);

} // namespace dtc

#endif // DTC_LIB_OPTIONS_CLASSWEIGHTS_H
