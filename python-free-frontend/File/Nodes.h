//===- Nodes.h - attributes of nodes, and new nodes ----------- -*- C++ -*-===//

#ifndef DTC_FRONTEND_FILE_NODES_H
#define DTC_FRONTEND_FILE_NODES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <onnx/onnx_pb.h>

#include <string>

namespace dtc::frontend {

inline int64_t readInt(const onnx::NodeProto &node, llvm::StringRef name,
                       int64_t otherwise) {
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.name() == name)
      return attribute.i();
  return otherwise;
}

inline onnx::AttributeProto &
addAttribute(onnx::NodeProto &node, llvm::StringRef name,
             onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name.str());
  attribute.set_type(type);
  return attribute;
}

inline void addInt(onnx::NodeProto &node, llvm::StringRef name, int64_t value) {
  addAttribute(node, name, onnx::AttributeProto::INT).set_i(value);
}

inline void addString(onnx::NodeProto &node, llvm::StringRef name,
                      llvm::StringRef value) {
  addAttribute(node, name, onnx::AttributeProto::STRING).set_s(value.str());
}

inline void addInts(onnx::NodeProto &node, llvm::StringRef name,
                    llvm::ArrayRef<int64_t> values) {
  addAttribute(node, name, onnx::AttributeProto::INTS)
      .mutable_ints()
      ->Assign(values.begin(), values.end());
}

/// A node of one operand and one result.
inline onnx::NodeProto makeUnary(llvm::StringRef op, const std::string &from,
                                 const std::string &to) {
  onnx::NodeProto node;
  node.set_op_type(op.str());
  node.add_input(from);
  node.add_output(to);
  return node;
}

} // namespace dtc::frontend

#endif // DTC_FRONTEND_FILE_NODES_H
