//===- Annotations.h - attributes that ONNX does not have ----- -*- C++ -*-===//
//
// Exporters leave out arguments of calls that mean nothing to an inference.
// Where a file records the calls, nodes get these attributes, which no file
// has.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_FILE_ANNOTATIONS_H
#define DTC_FRONTEND_FILE_ANNOTATIONS_H

#include "llvm/ADT/StringRef.h"

namespace dtc::frontend::annotation {

/// All begin so.
inline constexpr llvm::StringLiteral prefix = "dtc.";
/// STRING: the path of the module that a node is in, "encoder.drop".
inline constexpr llvm::StringLiteral module = "dtc.module";
/// INT: rows of this index get no gradient (torch.nn.Embedding).
inline constexpr llvm::StringLiteral paddingIdx = "dtc.padding_idx";
/// INT: gradients of rows are divided by how often they are looked up.
inline constexpr llvm::StringLiteral scaleGradByFreq = "dtc.scale_grad_by_freq";
/// STRING, a number: of a cross entropy. ONNX's FLOAT would round it.
inline constexpr llvm::StringLiteral labelSmoothing = "dtc.label_smoothing";
/// INT: a Squeeze leaves dimensions of other sizes than 1 as they are.
inline constexpr llvm::StringLiteral keepOtherSizes = "dtc.keep_other_sizes";
/// INT: the node is part of an EmbeddingBag.
inline constexpr llvm::StringLiteral embeddingBag = "dtc.embedding_bag";

} // namespace dtc::frontend::annotation

#endif // DTC_FRONTEND_FILE_ANNOTATIONS_H
