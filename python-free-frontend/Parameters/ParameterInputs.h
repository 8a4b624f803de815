//===- ParameterInputs.h - graph inputs that are parameters -----*- C++ -*-===//
//
// A model exported without its weights has its parameters among its inputs;
// the user's globs (`--parameter GLOB`) tell them from data. They also make
// parameters of initializers that would be constants.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_PARAMETERS_PARAMETERINPUTS_H
#define DTC_FRONTEND_PARAMETERS_PARAMETERINPUTS_H

#include "Exporters/Model.h"

#include "dtc/Frontend/Import.h"

namespace dtc::frontend {

/// Whether a graph input is to be trained. Whole numbers never are.
bool isParameterInput(const Model &model, const onnx::ValueInfoProto &input,
                      const ImportOptions &options);

/// Whether an initializer is to be trained whatever the rules say.
bool isParameterInitializer(llvm::StringRef name, const ImportOptions &options);

/// Reports globs that match nothing, and those that take the data too.
void checkParameterInputs(const Model &model, const ImportOptions &options,
                          std::vector<ImportIssue> &issues);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_PARAMETERS_PARAMETERINPUTS_H
