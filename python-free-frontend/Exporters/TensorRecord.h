//===- TensorRecord.h - the tensors of a model's state dict --- -*- C++ -*-===//
//
// Exporters that record the tensors of a model say which are parameters and
// which are buffers, under the names of the state dict. Files of other
// exporters have an empty record.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_TENSORRECORD_H
#define DTC_FRONTEND_EXPORTERS_TENSORRECORD_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace dtc::frontend {

/// A tensor of the model as its author wrote it, by its state dict's name.
struct Origin {
  enum Kind { Parameter, Buffer, Constant };
  std::string name;
  Kind kind = Parameter;
  /// Its name in calls, if the exporter recorded these: "p_fc_weight".
  std::string argument;
  /// Whether the state dict has it.
  bool isSaved = true;
  /// Whether a parameter requires a gradient.
  bool isTrained = true;
};

class TensorRecord {
public:
  /// Whether the exporter listed the tensors of the model.
  bool isKnown() const { return !tensors.empty(); }
  llvm::ArrayRef<Origin> origins() const { return tensors; }
  /// By the name in the state dict; null if it is none of the model's.
  const Origin *find(llvm::StringRef name) const;
  /// Adds a tensor, or replaces what is known of one. Returns its index.
  unsigned add(Origin origin);

  /// Whether the exporter recorded what is trained, and marked where gradients
  /// stop.
  bool hasTraining = false;
  /// Names that are one tensor.
  std::vector<std::vector<std::string>> ties;
  /// Buffers that forward changes.
  std::vector<std::string> changedBuffers;

protected:
  std::vector<Origin> tensors;

private:
  llvm::StringMap<unsigned> byName;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_TENSORRECORD_H
