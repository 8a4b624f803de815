//===- Call.cpp - one node and its operands -------------------------------===//
//
// Access to attributes and constant operands.
//
//===----------------------------------------------------------------------===//

#include "Shapes/Call.h"
#include "Support/Problem.h"
#include "Support/TensorData.h"

using namespace llvm;

namespace dtc::frontend {

Expected<const HostTensor *> Call::constant(unsigned i, StringRef what) const {
  if (!hasOperand(i))
    return problem("operand '" + what + "' is missing");
  if (!operands[i].constant)
    return problem("operand '" + what + "' is computed at run time",
                   "make it a constant; if it depends on dynamic dimensions, "
                   "give their sizes with --batch or --dim");
  return operands[i].constant;
}

Error Call::requireScalars(ArrayRef<unsigned> positions) const {
  for (unsigned i : positions)
    if (hasOperand(i) && numElements(shape(i)) != 1)
      return problem("operand " + Twine(i) + " has shape " +
                     toString(shape(i)) + ", expected one element");
  return Error::success();
}

Error Call::requireSameTypes() const {
  for (const Operand &operand : operands)
    if (operand.present && operand.dtype != operands[0].dtype)
      return problem("operands have element types " +
                         toString(operands[0].dtype) + " and " +
                         toString(operand.dtype) + ", expected the same",
                     "the model is not valid ONNX; export it again");
  return Error::success();
}

const onnx::AttributeProto *Call::attribute(StringRef name) const {
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

int64_t Call::getInt(StringRef name, int64_t otherwise) const {
  const auto *found = attribute(name);
  return found ? found->i() : otherwise;
}

double Call::getFloat(StringRef name, double otherwise) const {
  const auto *found = attribute(name);
  return found ? found->f() : otherwise;
}

StringRef Call::getString(StringRef name, StringRef otherwise) const {
  const auto *found = attribute(name);
  return found ? StringRef(found->s()) : otherwise;
}

std::optional<std::vector<int64_t>> Call::getInts(StringRef name) const {
  const auto *found = attribute(name);
  if (!found)
    return std::nullopt;
  return std::vector<int64_t>(found->ints().begin(), found->ints().end());
}

Expected<std::optional<std::vector<int64_t>>>
Call::getIntsOrOperand(StringRef name, unsigned i) const {
  if (auto ints = getInts(name))
    return ints;
  if (!hasOperand(i))
    return std::optional<std::vector<int64_t>>();
  Expected<const HostTensor *> values = constant(i, name);
  if (!values)
    return values.takeError();
  return std::optional<std::vector<int64_t>>((*values)->toInts());
}

Expected<DType> Call::getDType(StringRef name, DType otherwise) const {
  const auto *found = attribute(name);
  if (!found)
    return otherwise;
  std::optional<DType> dtype = toDType(found->i());
  if (!dtype)
    return problem("element type " + onnxTypeName(found->i()) +
                       " is not supported",
                   supportedTypes);
  return *dtype == DType::F32 ? floatType : *dtype;
}

std::optional<Call::Narrow> Call::getNarrow(StringRef name) const {
  const auto *found = attribute(name);
  switch (found ? found->i() : onnx::TensorProto::UNDEFINED) {
  case onnx::TensorProto::INT8:
    return Narrow{8, true};
  case onnx::TensorProto::UINT8:
    return Narrow{8, false};
  case onnx::TensorProto::INT16:
    return Narrow{16, true};
  case onnx::TensorProto::UINT16:
    return Narrow{16, false};
  case onnx::TensorProto::UINT32:
    return Narrow{32, false};
  default:
    return std::nullopt;
  }
}

} // namespace dtc::frontend
