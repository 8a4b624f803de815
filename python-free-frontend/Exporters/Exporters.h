//===- Exporters.h - undoes the rewrites of exporters -----------*- C++ -*-===//
//
// In:  a sound, flat graph (File/).
// Out: the graph as its author wrote it; a record of its tensors with name,
//      trained, tied and buffer (Model.h); warnings of losses that remain.
//
// Each exporter has a folder. No other folder of the importer knows which
// exporter wrote a file. May include File/ and Support/.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_EXPORTERS_H
#define DTC_FRONTEND_EXPORTERS_EXPORTERS_H

#include "Exporters/Model.h"

namespace dtc::frontend {

/// Restores the graph. If `wantedOutput` is the name of an output, only that
/// output stays. An error is one line about the exporter's record.
llvm::Expected<Model> restoreModel(ModelFile file,
                                   llvm::StringRef wantedOutput);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_EXPORTERS_H
