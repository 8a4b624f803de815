//===- ReadRecord.h - record of tools/export.py -----------------*- C++ -*-===//
//
// tools/export.py adds a record to a file of the dynamo exporter. It says which
// parameters are trained, which buffers are saved and which tensors are tied.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DTCEXPORT_READRECORD_H
#define DTC_FRONTEND_EXPORTERS_DTCEXPORT_READRECORD_H

#include "Exporters/TensorRecord.h"

#include "llvm/Support/Error.h"

#include <onnx/onnx_pb.h>

namespace dtc::frontend {

/// Adds the record of a file to `tensors`. Does nothing if the file has none. A
/// malformed record is an error, since frozen and tied parameters would be
/// lost.
llvm::Error readRecord(const onnx::ModelProto &model, TensorRecord &tensors);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DTCEXPORT_READRECORD_H
