//===- TensorRecord.h - tensors of a model's state dict ---------*- C++ -*-===//
//
// Some exporters list the parameters and buffers of a model with the names of
// the state dict. Files of other exporters have an empty record.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_TENSORRECORD_H
#define DTC_FRONTEND_EXPORTERS_TENSORRECORD_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace dtc::frontend {

/// A tensor of the original model, named as in the state dict.
struct Origin {
  enum Kind { Parameter, Buffer, Constant };
  std::string name;
  Kind kind = Parameter;
  /// Name of the tensor in calls: "p_fc_weight". Empty if the exporter does not
  /// record calls.
  std::string argument;
  /// Whether the state dict contains it.
  bool isSaved = true;
  /// Whether the parameter requires a gradient.
  bool isTrained = true;
};

/// Splits "model.norm.weight" into "model.norm" and "weight".
std::pair<llvm::StringRef, llvm::StringRef> splitName(llvm::StringRef name);

class TensorRecord {
public:
  /// Whether the exporter listed the tensors.
  bool isKnown() const { return !tensors.empty(); }
  llvm::ArrayRef<Origin> origins() const { return tensors; }
  /// The tensor of this name; null if the model has none.
  const Origin *find(llvm::StringRef name) const;
  /// Adds or replaces a tensor. Returns its index.
  unsigned add(Origin origin);

  /// Whether the exporter recorded which parameters are trained and where
  /// gradients stop.
  bool hasTraining = false;
  /// Lists of names that are one tensor.
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
