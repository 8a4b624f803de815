//===- CallKinds.h - what calls of torch.export do --------------*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_CALLKINDS_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_CALLKINDS_H

#include "llvm/ADT/StringRef.h"

namespace dtc::frontend {

/// Whether a call makes a tensor of numbers.
bool isCreation(llvm::StringRef call);
/// Whether a call has a weight, or may be part of a dropout.
bool isLayerOrDropout(llvm::StringRef call);
/// Whether a call only moves elements, or changes their type.
bool isMove(llvm::StringRef call);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_CALLKINDS_H
