//===- Exporters.h - undoes what exporters did to a model ----- -*- C++ -*-===//
//
// In:  a sound, flat graph (File/).
// Out: the graph as its author wrote it, with a record of its tensors: name,
//      trained, tied, buffer (Model.h), and warnings of what cannot be undone.
//
// Each exporter has a folder. Nothing outside of this folder knows which
// exporter wrote a file. May include File/ and Support/.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_EXPORTERS_H
#define DTC_FRONTEND_EXPORTERS_EXPORTERS_H

#include "Exporters/Model.h"

namespace dtc::frontend {

/// Of the outputs only the wanted one stays, if it is one. An error says in one
/// line what is wrong with the exporter's record.
llvm::Expected<Model> restoreModel(ModelFile file,
                                   llvm::StringRef wantedOutput);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_EXPORTERS_H
