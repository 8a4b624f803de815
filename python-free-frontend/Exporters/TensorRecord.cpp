//===- TensorRecord.cpp - tensors of a model's state dict -----------------===//
//
// See TensorRecord.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/TensorRecord.h"

using namespace llvm;

namespace dtc::frontend {

std::pair<StringRef, StringRef> splitName(StringRef name) {
  auto [owner, leaf] = name.rsplit('.');
  return leaf.empty() ? std::pair(StringRef(), owner) : std::pair(owner, leaf);
}

const Origin *TensorRecord::find(StringRef name) const {
  auto it = byName.find(name);
  return it == byName.end() ? nullptr : &tensors[it->second];
}

unsigned TensorRecord::add(Origin origin) {
  auto [it, isNew] = byName.try_emplace(origin.name, tensors.size());
  if (isNew) {
    tensors.push_back(std::move(origin));
    return it->second;
  }
  Origin &known = tensors[it->second];
  if (origin.argument.empty())
    origin.argument = known.argument;
  known = std::move(origin);
  return it->second;
}

} // namespace dtc::frontend
