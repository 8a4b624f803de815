//===- SeparateNames.h - results that have no parameter's name --*- C++ -*-===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_SEPARATENAMES_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_SEPARATENAMES_H

#include "llvm/Support/Error.h"

#include <onnx/onnx_pb.h>

namespace dtc::frontend {

/// PyTorch's exporter calls results after ops, such as `t`, and leaves a
/// parameter of that name out of the file where it computes with it. Gives such
/// results, computed by nodes or by the exporter, the names of later calls, in
/// the record, too: the parameter may come back. An error if what
/// tools/export.py recorded is malformed.
llvm::Error separateNames(onnx::ModelProto &model);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_SEPARATENAMES_H
