//===- Annotations.h - attributes that ONNX lacks ---------------*- C++ -*-===//
//
// Exporters leave out arguments of calls that do not matter for inference. If a
// file records the calls, nodes get these attributes. Files themselves never
// have them.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_FILE_ANNOTATIONS_H
#define DTC_FRONTEND_FILE_ANNOTATIONS_H

#include "llvm/ADT/StringRef.h"

namespace dtc::frontend::annotation {

/// Prefix of all annotations.
inline constexpr llvm::StringLiteral prefix = "dtc.";
/// STRING: path of the node's module, "encoder.drop".
inline constexpr llvm::StringLiteral module = "dtc.module";
/// INT: rows of this index get no gradient (torch.nn.Embedding).
inline constexpr llvm::StringLiteral paddingIdx = "dtc.padding_idx";
/// INT: the gradient of a row is divided by its number of lookups.
inline constexpr llvm::StringLiteral scaleGradByFreq = "dtc.scale_grad_by_freq";
/// STRING that holds a number: label smoothing of a cross entropy. A FLOAT
/// attribute would round the number.
inline constexpr llvm::StringLiteral labelSmoothing = "dtc.label_smoothing";
/// INT: the Squeeze keeps dimensions whose size is not 1.
inline constexpr llvm::StringLiteral keepOtherSizes = "dtc.keep_other_sizes";
/// INT: the node is part of an EmbeddingBag.
inline constexpr llvm::StringLiteral embeddingBag = "dtc.embedding_bag";

} // namespace dtc::frontend::annotation

#endif // DTC_FRONTEND_FILE_ANNOTATIONS_H
