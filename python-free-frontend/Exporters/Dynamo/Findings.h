//===- Findings.h - what rules found out about a file -----------*- C++ -*-===//
//
// Rules add findings while they explain operands. Messages.cpp has the sentence
// of each kind: one line for all subjects of a kind.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_FINDINGS_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_FINDINGS_H

#include "Exporters/RestoredTensors.h"

#include "llvm/ADT/Twine.h"

#include <map>

namespace dtc::frontend {

enum class Finding {
  NamedLikeInput,
  OtherShape,
  FoldedNorm,
  DroppedSum,
  LostCopy,
  LikelyMoved,
  PerhapsMoved,
  Doubtful,
  TrainedInPlace,
  UnknownDetach,
  MergedDetach,
  Missing,
  Unread,
  Moved,
  Recomputed,
  Named,
  Apart,
  ZeroBias,
};

class Findings {
public:
  /// `subject` is a quoted name, or several: "'exp' of 'scale'".
  void add(Finding kind, const llvm::Twine &subject) {
    subjects[kind].push_back(subject.str());
  }
  /// Returns the restored tensors, with all sentences.
  RestoredTensors finish();

  /// Whether a rule found that a tensor is another one by this name.
  bool isAlias(llvm::StringRef name) const { return aliases.contains(name); }
  /// Marks it as one; true the first time.
  bool addAlias(llvm::StringRef name) { return aliases.insert(name).second; }

  RestoredTensors tensors;
  /// Results of calls that the exporter computed of a parameter that is known.
  llvm::StringSet<> attributed;

private:
  std::map<Finding, std::vector<std::string>> subjects;
  llvm::StringSet<> aliases;
};

/// "'name'".
inline std::string quote(llvm::StringRef name) {
  return ("'" + name + "'").str();
}
/// "'result' of 'tensor'", and the like.
inline std::string quote(llvm::StringRef a, llvm::StringRef word,
                         llvm::StringRef b) {
  return ("'" + a + "' " + word + " '" + b + "'").str();
}

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_FINDINGS_H
