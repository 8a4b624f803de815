//===- ParameterInputs.h - graph inputs that are parameters -----*- C++ -*-===//
//
// A model that was exported without its weights has its parameters among its
// inputs. The globs of `--parameter GLOB` tell parameters from data. They also
// turn initializers into parameters that would else be constants.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_PARAMETERS_PARAMETERINPUTS_H
#define DTC_FRONTEND_PARAMETERS_PARAMETERINPUTS_H

#include "Exporters/Model.h"

#include "dtc/Frontend/Import.h"

namespace dtc::frontend {

/// Whether to train a graph input. Integers are never trained.
bool isParameterInput(const Model &model, const onnx::ValueInfoProto &input,
                      const ImportOptions &options);

/// Whether an initializer is a parameter that is not trained
/// (ImportOptions::kept).
bool isKeptInitializer(llvm::StringRef name, const ImportOptions &options);

/// Whether `--parameter` makes an initializer a parameter. It overrides
/// ParameterRules.
bool isParameterInitializer(llvm::StringRef name, const ImportOptions &options);

/// Reports globs that match nothing, match data, or match all inputs.
void checkParameterInputs(const Model &model, const ImportOptions &options,
                          std::vector<ImportIssue> &issues);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_PARAMETERS_PARAMETERINPUTS_H
