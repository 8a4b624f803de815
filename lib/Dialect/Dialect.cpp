//===- Dialect.cpp - registration and printing of the dtc dialect ---------===//
//
// Registers attributes and ops, and gives meshes and layouts short aliases.
//
//===----------------------------------------------------------------------===//

#include "Canonicalization.h"

using namespace mlir;
using namespace dtc;

#include "dtc/Dialect/Dialect.cpp.inc"
#include "dtc/Dialect/Enums.cpp.inc"
#include "dtc/Dialect/Interfaces.cpp.inc"

namespace {

/// Aliases of attributes: `#mesh`, and for a layout the axes that it names:
/// `#mb_dp` for splits, `#partial_mb_dp`, `#replicated`.
struct AliasPrinter : public OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, llvm::raw_ostream &os) const override {
    if (isa<MeshAttr>(attr)) {
      os << "mesh";
      return AliasResult::FinalAlias;
    }
    auto layout = dyn_cast<LayoutAttr>(attr);
    if (!layout)
      return AliasResult::NoAlias;
    if (layout.isReplicated()) {
      os << "replicated";
      return AliasResult::OverridableAlias;
    }
    for (const AxisLayout &entry : layout.getEntries()) {
      if (&entry != layout.getEntries().begin())
        os << "_";
      os << (entry.isPartial() ? "partial_" : "") << entry.axis.getValue();
      if (entry.isSplit() && !entry.hasDim())
        os << "_each";
      else if (entry.isSplit() && (entry.dim != 0 || entry.pieces > 1))
        os << entry.dim;
      if (entry.pieces > 1)
        os << "in" << entry.pieces;
    }
    return AliasResult::OverridableAlias;
  }
};

} // namespace

void DTCDialect::getCanonicalizationPatterns(
    RewritePatternSet &patterns) const {
  populateElementwisePatterns(patterns);
  populateReshapePatterns(patterns);
  populateTransposePatterns(patterns);
}

void DTCDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dtc/Dialect/Ops.cpp.inc"
      >();
  addInterfaces<AliasPrinter>();
}
