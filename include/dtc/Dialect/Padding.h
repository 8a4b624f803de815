//===- Padding.h - rows that lookups do not train ---------------*- C++ -*-===//
//
// `padding_idx` of torch.nn.Embedding: the attribute `dtc.padding` of a lookup
// is the row of its table that gets no gradient from it. Differentiate reads
// the attribute; later passes ignore it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_DIALECT_PADDING_H
#define DTC_DIALECT_PADDING_H

#include "dtc/Dialect/Dialect.h"

namespace dtc {

constexpr llvm::StringLiteral paddingAttrName = "dtc.padding";

inline std::optional<int64_t> getPadding(GatherOp lookup) {
  auto row = lookup->getAttrOfType<mlir::IntegerAttr>(paddingAttrName);
  return row ? std::optional(row.getInt()) : std::nullopt;
}

inline void setPadding(GatherOp lookup, int64_t row) {
  mlir::Builder builder(lookup.getContext());
  lookup->setAttr(paddingAttrName, builder.getI64IntegerAttr(row));
}

} // namespace dtc

#endif // DTC_DIALECT_PADDING_H
