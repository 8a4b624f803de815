//===- RestoredTensors.h - what was made of a file's tensors -- -*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_RESTOREDTENSORS_H
#define DTC_FRONTEND_EXPORTERS_RESTOREDTENSORS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <string>
#include <vector>

namespace dtc::frontend {

struct RestoredTensors {
  /// Initializers whose elements are stored as those of their transpose.
  llvm::StringSet<> transposed;
  /// Initializers that the exporter computed of parameters that the file does
  /// not have: trained as they are.
  llvm::StringSet<> computed;
  /// Parameters that warnings name.
  llvm::StringSet<> explained;
  /// Other names of a tensor in the state dict.
  llvm::StringMap<std::vector<std::string>> aliases;
  /// Results of calls that the exporter computed of a parameter that is known.
  llvm::StringSet<> attributed;
  std::vector<std::string> notes, details, warnings;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_RESTOREDTENSORS_H
