//===- ScaleRequest.h - command line of dtc scale ---------------*- C++ -*-===//

#ifndef DTC_LIB_DRIVER_SCALEREQUEST_H
#define DTC_LIB_DRIVER_SCALEREQUEST_H

#include "dtc/Report/Scaling.h"
#include "dtc/Report/Topology.h"
#include "mlir/Support/LLVM.h"

namespace dtc {

struct ScaleRequest {
  static constexpr const char *usage =
      "dtc scale MODEL.onnx --ranks 1,2,4 [--strong|--weak] [-o FILE.svg] "
      "[--measured FILE] [OPTION...] [--plan \"--zero 1 --tp 2\"]...";

  struct Plan {
    std::string name;
    std::vector<std::string> words;
    int64_t ranksPerReplica = 1; ///< tp x pp
  };

  llvm::SmallVector<llvm::StringRef>
      shared; ///< the model, options of all plans
  std::vector<Plan> plans;
  std::vector<int64_t> ranks; ///< ascending
  bool isWeak = false;
  std::optional<int64_t> batch; ///< of a step, or of a replica if `isWeak`
  std::string picture;          ///< path; empty: none
  std::string topologyFile;
  std::optional<Topology> topology; ///< from the file
  std::vector<ScalingPoint> measured;

  std::string getModelName() const;

  /// Reads the command line and the files that it names. Fails after printing
  /// an error.
  static mlir::FailureOr<ScaleRequest>
  parse(llvm::ArrayRef<const char *> arguments);
};

} // namespace dtc

#endif // DTC_LIB_DRIVER_SCALEREQUEST_H
