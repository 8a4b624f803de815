//===- RecordedTensors.h - the tensors that dynamo lists --------*- C++ -*-===//
//
// PyTorch's dynamo exporter lists the parameters and buffers of the model:
//
//   p_fc_weight: PARAMETER target='fc.weight'
//   b_mask: BUFFER target='mask' persistent=False
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_RECORDEDTENSORS_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_RECORDEDTENSORS_H

#include "Exporters/TensorRecord.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <onnx/onnx_pb.h>

#include <map>

namespace dtc::frontend {

class RecordedTensors : public TensorRecord {
public:
  /// An error if the record of tools/export.py is malformed.
  static llvm::Expected<RecordedTensors> read(const onnx::ModelProto &model);

  /// By the name in calls, such as "p_fc_weight".
  const Origin *findArgument(llvm::StringRef argument) const;
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
};

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_RECORDEDTENSORS_H
