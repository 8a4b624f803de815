//===- FoldRepeats.h - merge equal layers and stages ------------*- C++ -*-===//
//
// The drawing of a model shows repeated parts once.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_REPORT_MODEL_FOLDREPEATS_H
#define DTC_LIB_REPORT_MODEL_FOLDREPEATS_H

#include "dtc/Report/ModelGraph.h"
#include "llvm/ADT/StringRef.h"

namespace dtc {

/// Splits "h.0" into "h" and 0; -1 without a number.
std::pair<llvm::StringRef, int64_t> splitNumber(llvm::StringRef name);

/// Merges consecutive equal layers if each reads only the one before it.
void foldBlocks(ModelGraph::Stage &stage);

/// Merges consecutive equal stages under the name of the first. Does not merge
/// chunks: consecutive chunks belong to different stages.
void foldStages(std::vector<ModelGraph::Stage> &stages);

} // namespace dtc

#endif // DTC_LIB_REPORT_MODEL_FOLDREPEATS_H
