//===- KeepBuffers.cpp - buffers to save with the weights -----------------===//
//
// See Parameters.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/GeneratedNames.h"
#include "Parameters/Parameters.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

void keepBuffers(const Model &model, const StringMap<TensorData> &initializers,
                 const Parameters &parameters, ImportReport &report) {
  auto isSaved = [&](StringRef name) {
    if (const Origin *origin = model.record.find(name))
      return origin->isSaved;
    // Without a record, save the constants whose names PyTorch's exporter did
    // not invent.
    return !model.record.isKnown() && !isGeneratedName(name) &&
           model.hasPyTorchNames &&
           any_of(report.constants,
                  [&](const ImportReport::Constant &constant) {
                    return constant.name == name;
                  });
  };
  for (const auto &[name, data] : initializers) {
    if (parameters.uses.contains(name) || !data.hasData || !isSaved(name))
      continue;
    ArrayRef<char> bytes = data.bytes;
    if (data.transposed) {
      auto own = std::make_shared<std::vector<char>>(toOwnOrder(data));
      bytes = *own;
      report.parameters.owners.push_back(std::move(own));
    }
    std::vector<std::string> names = model.restored.aliases.lookup(name);
    names.push_back(name.str());
    for (const std::string &own : names)
      report.parameters.buffers.push_back(
          {own, getSafetensorsName(data.dtype), data.shape, bytes});
  }
  llvm::sort(report.parameters.buffers,
             [](const Buffer &a, const Buffer &b) { return a.name < b.name; });
}

} // namespace dtc::frontend
