//===- Provenance.h - what dynamo records about tensors ------- -*- C++ -*-===//
//
// PyTorch's dynamo exporter lists the parameters and buffers of the model, and
// says of which tensors it computed a tensor:
//
//   graph: p_fc_weight: PARAMETER target='fc.weight'
//          b_mask: BUFFER target='mask' persistent=False
//   value: folded_from ['fc.weight', 'val_0']
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_PROVENANCE_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_PROVENANCE_H

#include "Exporters/TensorRecord.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <onnx/onnx_pb.h>

#include <map>

namespace dtc::frontend {

class Provenance : public TensorRecord {
public:
  /// An error if the record of tools/export.py is malformed.
  static llvm::Expected<Provenance> read(const onnx::ModelProto &model);

  /// By the name in calls, such as "p_fc_weight".
  const Origin *findArgument(llvm::StringRef argument) const;
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

private:
  /// The name of a tensor of the state dict. One that an argument of forward
  /// has, too, gets a number, as the exporter gives it.
  std::string getOwnName(llvm::StringRef target);
  void readSignature(llvm::StringRef text);

  llvm::StringSet<> inputs; ///< that are arguments of forward
  std::map<std::string, std::string> renamed;
  llvm::StringMap<unsigned> byArgument;
  /// What each tensor that the exporter computed was computed of.
  llvm::StringMap<std::vector<std::string>> sources;
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_PROVENANCE_H
