//===- RestoredTensors.h - tensors that rewrites made -----------*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_RESTOREDTENSORS_H
#define DTC_FRONTEND_EXPORTERS_RESTOREDTENSORS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <string>
#include <vector>

namespace dtc::frontend {

/// Results of the rewrites, for Parameters/ and for the report.
struct RestoredTensors {
  /// Initializers that hold the elements of their transpose.
  llvm::StringSet<> transposed;
  /// Initializers that the exporter computed from parameters that the file
  /// lacks. They are trained as they are.
  llvm::StringSet<> computed;
  /// Parameters that a warning names already.
  llvm::StringSet<> explained;
  /// Other names of a tensor in the state dict.
  llvm::StringMap<std::vector<std::string>> aliases;
  /// Results of calls that the exporter computed from a known parameter.
  llvm::StringSet<> attributed;
  std::vector<std::string> notes, details, warnings;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_RESTOREDTENSORS_H
