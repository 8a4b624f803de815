//===- ClassWeights.h - what --class-weights means --------------*- C++ -*-===//
//
// Numbers on the command line, or in a file of NumPy's.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_OPTIONS_CLASSWEIGHTS_H
#define DTC_LIB_OPTIONS_CLASSWEIGHTS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace dtc {

/// The weights of "X,X,..." or of "FILE.npy", an array of one dimension in f32
/// or f64; at least one. The error is one line.
llvm::Expected<std::vector<double>> readClassWeights(llvm::StringRef text);

} // namespace dtc

#endif // DTC_LIB_OPTIONS_CLASSWEIGHTS_H
