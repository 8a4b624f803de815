//===- CallKinds.cpp - what calls of torch.export do ----------------------===//
//
// By their names, without the number.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/CallKinds.h"
#include "Exporters/Dynamo/FxCall.h"

using namespace llvm;

namespace dtc::frontend {

bool isCreation(StringRef call) {
  StringRef stem = getStem(call);
  for (StringRef name : {"scalar_tensor", "full", "arange", "zeros", "ones",
                         "new_", "empty", "tril", "triu", "lift_fresh", "fill"})
    if (stem.starts_with(name))
      return true;
  return false;
}

bool isLayerOrDropout(StringRef call) {
  StringRef stem = getStem(call);
  for (StringRef name : {"linear", "addmm", "embedding", "conv", "layer_norm",
                         "native_layer_norm", "rms_norm", "batch_norm",
                         "dropout", "native_dropout", "getitem"})
    if (stem.starts_with(name))
      return true;
  return false;
}

bool isMove(StringRef call) {
  StringRef stem = getStem(call);
  for (StringRef name :
       {"clone",        "detach",    "alias",   "contiguous",
        "to",           "_to_copy",  "type_as", "view",
        "_unsafe_view", "reshape",   "expand",  "permute",
        "transpose",    "t",         "squeeze", "unsqueeze",
        "select",       "slice",     "getitem", "narrow",
        "flatten",      "unflatten", "movedim", "lift_fresh_copy",
        "repeat",       "expand_as"})
    if (stem == name)
      return true;
  return false;
}

} // namespace dtc::frontend
