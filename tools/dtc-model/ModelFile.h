//===- ModelFile.h - a network as a file ------------------------*- C++ -*-===//
//
// Draws the weights and writes the model.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_MODEL_MODELFILE_H
#define DTC_MODEL_MODELFILE_H

#include "Network.h"

#include "llvm/Support/Error.h"

namespace dtc::model {

struct WeightOptions {
  /// Without weights an initializer has name, type and shape only.
  bool write = false;
  /// Whether the weights go into a file beside the model. Weights above 1 GiB
  /// always do; protobuf allows 2.
  bool external = false;
  uint64_t seed = 0;
};

struct FileSizes {
  uint64_t model = 0;
  /// Size of the external file PATH.data; 0: there is none.
  uint64_t data = 0;
};

/// Writes `path`, and `path`.data for external weights. Each file has a
/// temporary name until both are written. The same seed gives the same bytes.
llvm::Expected<FileSizes> writeModel(Network &network, const std::string &path,
                                     const WeightOptions &options);

} // namespace dtc::model

#endif // DTC_MODEL_MODELFILE_H
