//===- ReadRecord.h - the record of tools/export.py ----------- -*- C++ -*-===//
//
// tools/export.py adds to a file of the dynamo exporter which parameters are
// trained, which buffers are saved and which tensors are tied.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DTCEXPORT_READRECORD_H
#define DTC_FRONTEND_EXPORTERS_DTCEXPORT_READRECORD_H

#include "Exporters/TensorRecord.h"

#include "llvm/Support/Error.h"

#include <onnx/onnx_pb.h>

namespace dtc::frontend {

/// Adds the record of a file that has one. A malformed record is an error:
/// which parameters are frozen or tied would be lost.
llvm::Error readRecord(const onnx::ModelProto &model, TensorRecord &tensors);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DTCEXPORT_READRECORD_H
