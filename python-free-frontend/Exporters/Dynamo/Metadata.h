//===- Metadata.h - metadata of graphs, nodes and values ------ -*- C++ -*-===//
//
// Debian's ONNX is older than the metadata of graphs, nodes and values, so
// these are fields that its protobuf classes do not know.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_METADATA_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_METADATA_H

#include "llvm/ADT/StringRef.h"

#include <google/protobuf/unknown_field_set.h>

#include <string>
#include <vector>

namespace dtc::frontend {

/// The numbers of `metadata_props` in onnx.proto since IR version 10.
inline constexpr int nodeMetadata = 9, graphMetadata = 16, valueMetadata = 4;

/// The value of `key` among the StringStringEntryProto of field `number`.
std::string readMetadata(const google::protobuf::UnknownFieldSet &fields,
                         int number, llvm::StringRef key);

/// The texts between single quotes.
std::vector<std::string> readQuoted(llvm::StringRef list);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_METADATA_H
