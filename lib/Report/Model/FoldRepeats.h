//===- FoldRepeats.h - layers and stages that are alike ---------*- C++ -*-===//
//
// A model is drawn once for what repeats in it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_REPORT_MODEL_FOLDREPEATS_H
#define DTC_LIB_REPORT_MODEL_FOLDREPEATS_H

#include "dtc/Report/ModelGraph.h"
#include "llvm/ADT/StringRef.h"

namespace dtc {

/// "h" and 0 of "h.0"; -1 without a number.
std::pair<llvm::StringRef, int64_t> splitNumber(llvm::StringRef name);

/// Makes one of consecutive layers that only read what the one before made.
void foldBlocks(ModelGraph::Stage &stage);

/// Makes one of consecutive stages that are alike, with the name of the first.
/// Chunks stay: one after the other are of different stages.
void foldStages(std::vector<ModelGraph::Stage> &stages);

} // namespace dtc

#endif // DTC_LIB_REPORT_MODEL_FOLDREPEATS_H
