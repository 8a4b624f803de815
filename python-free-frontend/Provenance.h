//===- Provenance.h - what an exporter records about tensors ----*- C++ -*-===//
//
// PyTorch's dynamo exporter lists the parameters and buffers of the model, and
// keeps with each node the call of torch.export that it comes from:
//
//   graph: p_fc_weight: PARAMETER target='fc.weight'
//          b_mask: BUFFER target='mask' persistent=False
//   node:  %linear : [num_users=1] = call_function[target=
//          torch.ops.aten.linear.default](args = (%x, %p_fc_weight), ...)
//
//   value: folded_from ['fc.weight', 'val_0'], if it computed the tensor itself
//
// tools/export.py records more: which parameters are trained and which tensors
// are one.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_PROVENANCE_H
#define DTC_FRONTEND_PROVENANCE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <onnx/onnx_pb.h>

#include <map>
#include <optional>
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

/// A call of torch.export.
struct FxCall {
  std::string result;
  /// "linear" of "torch.ops.aten.linear.default".
  std::string op;
  /// The values that each positional argument names.
  std::vector<llvm::SmallVector<std::string, 1>> arguments;
  /// The value of each positional argument that is an integer.
  std::vector<std::optional<int64_t>> integers;
  /// Each positional argument as it is written: "%x", "None", "0.1".
  std::vector<std::string> texts;
  /// Arguments with a name, as they are written: {value: 0.5}.
  llvm::StringMap<std::string> keywords;

  bool uses(llvm::StringRef value) const;
};

/// "embedding" of the call "embedding_1".
llvm::StringRef getStem(llvm::StringRef call);
/// 1 of the call "embedding_1", 0 of "embedding": calls are numbered by stem.
int64_t getNumber(llvm::StringRef call);
/// "embedding_1" of "embedding" and 1, "embedding" of it and 0.
std::string makeCallName(llvm::StringRef stem, int64_t number);

/// The call that a node comes from, if the exporter says.
std::optional<FxCall> readFxCall(const onnx::NodeProto &node);

/// The modules around a node from the outermost to its own: "", "model",
/// "model.layers.0".
std::vector<std::string> readModules(const onnx::NodeProto &node);

/// The innermost line of source that made a node: "return self.fc(x)".
std::string readSourceLine(const onnx::NodeProto &node);

/// Replaces values in the call that is recorded with a node, and modules around
/// it.
void renameInCall(onnx::NodeProto &node,
                  const llvm::StringMap<std::string> &values);
void renameModules(onnx::NodeProto &node,
                   const llvm::StringMap<std::string> &modules);

class Provenance {
public:
  Provenance() = default;
  /// An error if the record of tools/export.py is malformed.
  static llvm::Expected<Provenance> read(const onnx::ModelProto &model);

  /// Whether the exporter listed the tensors of the model.
  bool isKnown() const { return !tensors.empty(); }
  llvm::ArrayRef<Origin> origins() const { return tensors; }
  /// Whether tools/export.py recorded what is trained, and marked where
  /// gradients stop.
  bool hasTraining() const { return isRecorded; }
  /// By the name in the state dict; null if it is none of the model's.
  const Origin *find(llvm::StringRef name) const;
  /// By the name in calls, such as "p_fc_weight".
  const Origin *findArgument(llvm::StringRef argument) const;
  /// Names that are one tensor, as tools/export.py records them.
  llvm::ArrayRef<std::vector<std::string>> ties() const { return tied; }
  /// Whether the exporter says of which tensors it computed `tensor`.
  bool hasSources(llvm::StringRef tensor) const {
    return sources.contains(tensor);
  }
  /// Whether it computed it of several, so that it may have done more than move
  /// the elements of one.
  bool hasSeveralSources(llvm::StringRef tensor) const {
    auto it = sources.find(tensor);
    return it != sources.end() && it->second.size() > 1;
  }
  /// Those of them that are the model's.
  llvm::SmallVector<const Origin *> findSources(llvm::StringRef tensor) const;
  /// Those that are not: numbers, and what was computed on the way.
  llvm::SmallVector<llvm::StringRef> findSteps(llvm::StringRef tensor) const;
  /// By its name here, that of the state dict of what an input is called like.
  const std::map<std::string, std::string> &renamedTensors() const {
    return renamed;
  }
  /// Buffers that forward changes.
  llvm::ArrayRef<std::string> changed() const { return changedBuffers; }

private:
  llvm::Error readAll(const onnx::ModelProto &model);
  void add(Origin origin, llvm::StringRef argument);
  /// The name of a tensor of the state dict. One that an argument of forward
  /// has, too, gets a number, as the exporter gives it.
  std::string getOwnName(llvm::StringRef target);
  void readSignature(llvm::StringRef text);
  llvm::Error readRecord(llvm::StringRef json);

  bool isRecorded = false;
  llvm::StringSet<> inputs; ///< that are arguments of forward
  std::map<std::string, std::string> renamed;
  std::vector<Origin> tensors;
  llvm::StringMap<unsigned> byName, byArgument;
  std::vector<std::vector<std::string>> tied;
  std::vector<std::string> changedBuffers;
  /// What each tensor that the exporter computed was computed of.
  llvm::StringMap<std::vector<std::string>> sources;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_PROVENANCE_H
