//===- StopGradientOp.h - the operator that dtc adds to ONNX ----*- C++ -*-===//

#ifndef DTC_FRONTEND_FILE_STOPGRADIENTOP_H
#define DTC_FRONTEND_FILE_STOPGRADIENTOP_H

#include "llvm/ADT/StringRef.h"

namespace dtc::frontend {

/// Domain and name of the only operator that dtc adds to those of ONNX.
inline constexpr llvm::StringLiteral stopGradientDomain = "dtc";
inline constexpr llvm::StringLiteral stopGradientOp = "StopGradient";

inline bool isStopGradient(llvm::StringRef domain, llvm::StringRef op) {
  return domain == stopGradientDomain && op == stopGradientOp;
}

} // namespace dtc::frontend

#endif // DTC_FRONTEND_FILE_STOPGRADIENTOP_H
