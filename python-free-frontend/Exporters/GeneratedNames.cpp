//===- GeneratedNames.cpp - names that exporters invent -------------------===//
//
// See GeneratedNames.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/GeneratedNames.h"

using namespace llvm;

namespace dtc::frontend {

bool isGeneratedName(StringRef name) {
  // "_conv.weight" is a name from a module.
  return name.starts_with("onnx::") || name.starts_with("/") ||
         (name.starts_with("_") && !name.contains('.')) ||
         name.starts_with("val_") ||
         name.find_first_not_of("0123456789") == StringRef::npos;
}

bool isSameModule(StringRef a, StringRef b) {
  if (a.size() > b.size())
    std::swap(a, b);
  if (!b.consume_front(a))
    return false;
  return b.empty() || (b.consume_front("_") && !b.empty() &&
                       b.find_first_not_of("0123456789") == StringRef::npos);
}

// Paddle names parameters 'linear_0.w_0', and values that it computed from them
// 'helper.reshape.0'.
bool isConstantName(StringRef name, bool isOne) {
  return name.starts_with("helper.constant.") ||
         (isOne && (name.starts_with("p2o.pd_op.full.") ||
                    name.starts_with("auto.cast.")));
}

} // namespace dtc::frontend
