//===- Metadata.cpp - metadata of graphs, nodes and values ----------------===//
//
// See Metadata.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/Metadata.h"

#include "llvm/ADT/SmallVector.h"

#include <onnx/onnx_pb.h>

using namespace llvm;

namespace dtc::frontend {

std::string readMetadata(const google::protobuf::UnknownFieldSet &fields,
                         int number, StringRef key) {
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField &field = fields.field(i);
    if (field.number() != number ||
        field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      continue;
    onnx::StringStringEntryProto entry;
    if (entry.ParseFromString(field.length_delimited()) && entry.key() == key)
      return entry.value();
  }
  return "";
}

std::vector<std::string> readQuoted(StringRef list) {
  SmallVector<StringRef> parts;
  list.split(parts, '\'');
  std::vector<std::string> result;
  for (size_t i = 1; i + 1 < parts.size(); i += 2)
    result.push_back(parts[i].str());
  return result;
}

} // namespace dtc::frontend
