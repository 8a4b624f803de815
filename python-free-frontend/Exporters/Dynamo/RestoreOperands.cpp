//===- RestoreOperands.cpp - operands that their calls name ---------------===//
//
//   MatMul(x, val_110)              %linear = linear(%x, %p_q_weight,
//   %p_q_bias)
//
// becomes, where val_110 has the elements of the weight's transpose,
//
//   %w = Transpose(q.weight); %y = MatMul(x, %w); Add(%y, q.bias)
//
// Operands are explained first, call by call, and then replaced.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/CallTable.h"
#include "Exporters/Dynamo/Rules.h"
#include "File/Nodes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

namespace {
/// An operand that is not what the file has there.
struct Explanation {
  enum Kind {
    Tensor,      ///< of the state dict
    Number,      ///< that equals a tensor of the state dict
    MissingBias, ///< of a product or convolution without one
  } kind;
  int node, operand;
  const Origin *tensor;
};

class CallExplainer {
public:
  CallExplainer(const RecordedProgram &program, ArrayRef<int> nodes)
      : program(program), nodes(nodes),
        call(*program.origin(nodes.front()).call) {}

  std::vector<Explanation> run();

private:
  void explain(int node, int operand);
  void explainBias();
  const Origin *findNamed(int node, int operand) const;
  const Origin *findUnclaimed() const;
  bool isNumber(int node, int operand) const;
  const Origin *findOwn(int node, int operand) const {
    return program.record.find(program.node(node).input(operand));
  }

  const RecordedProgram &program;
  ArrayRef<int> nodes;
  const RecordedCall &call;
  /// Whether the graph has all that the call names, which are no tensors of the
  /// state dict: what it reads besides is a number.
  bool isAllKnown = true, isAllNumbers = false;
  StringSet<> claimed; ///< tensors of the state dict that operands are
  /// Numbers and biases come first: a bias is as long as a weight's shape says.
  std::vector<Explanation> explained, tensors;
  /// Operands that the call does not name: tensors, and parameters that are one
  /// number.
  SmallVector<std::pair<int, int>> unnamed, unnamedNumbers;
};
} // namespace

/// The tensor of the state dict that the call names for an operand.
const Origin *CallExplainer::findNamed(int node, int operand) const {
  std::optional<StringRef> value = findValue(call, program.node(node), operand);
  if (!value)
    return nullptr;
  if (const Origin *tensor = program.record.findArgument(*value))
    return tensor;
  // A batch norm that is used again reads what its first use wrote.
  bool isMean = operand == 3, isStatistic = isMean || operand == 4;
  if (!isBatchNorm(call) || !isStatistic)
    return nullptr;
  return program.record.find((program.origin(node).module() +
                              (isMean ? ".running_mean" : ".running_var"))
                                 .str());
}

/// The only parameter that the call names and that no operand is.
const Origin *CallExplainer::findUnclaimed() const {
  const Origin *found = nullptr;
  for (const Origin *tensor : program.findTensors(call))
    if (tensor->kind == Origin::Parameter && !claimed.contains(tensor->name)) {
      if (found && found != tensor)
        return nullptr;
      found = tensor;
    }
  return found;
}

/// Whether the call has no tensor for an operand, such as a norm without
/// weights, or one that was made of ones, say: the exporter stored what it
/// equals.
bool CallExplainer::isNumber(int index, int operand) const {
  const onnx::NodeProto &node = program.node(index);
  std::optional<unsigned> number = findArgument(call, node, operand);
  if (!number)
    return false;
  // The role of each operand of a sum or product may be unknown.
  const Origin *own = findOwn(index, operand);
  if (node.input_size() == 2 &&
      findArgument(call, node, 1 - operand) == number && own &&
      is_contained(program.findTensors(call), own))
    return false;
  // "None", "2.0", or no argument at all.
  if (call.text(*number).find_first_of("%[") == StringRef::npos)
    return true;
  std::optional<StringRef> value = findValue(call, node, operand);
  return value && program.isGone(*value) && getKind(*value) == CallKind::Create;
}

void CallExplainer::explain(int index, int operand) {
  const onnx::NodeProto &node = program.node(index);
  const std::string &input = node.input(operand);
  const onnx::TensorProto *stored = program.findTensor(input);
  if (!isFloatTensor(stored))
    return;
  SmallVector<const Origin *> sources = program.findSources(input);
  const std::vector<std::string> *steps = program.findSteps(input);
  if (findScale(call) && steps && steps->size() > 1) {
    for (const Origin *source : sources)
      claimed.insert(source->name);
    return; // scaled
  }
  const Origin *own = findOwn(index, operand),
               *named = findNamed(index, operand);
  if ((own || !sources.empty()) && (isAllNumbers || isNumber(index, operand))) {
    explained.push_back({Explanation::Number, index, operand, own});
    return;
  }
  // One operand of the sum is a bias, the other a computed product.
  if (named && named != own && node.op_type() == "Add" && mayHaveBias(call) &&
      stored->dims_size() > 1)
    return;
  const Origin *tensor = named;
  if (!named && own && is_contained(program.findTensors(call), own))
    tensor = own;
  if (tensor)
    claimed.insert(tensor->name);
  if (tensor && tensor != own)
    tensors.push_back({Explanation::Tensor, index, operand, tensor});
  // A tensor that is recorded as computed may involve arithmetic.
  if (tensor || steps || isBatchNorm(call) || findValue(call, node, operand))
    return;
  if (stored->dims_size() > 0)
    unnamed.push_back({index, operand});
  else if (own && own->kind == Origin::Parameter)
    unnamedNumbers.push_back({index, operand});
}

void CallExplainer::explainBias() {
  const Origin *bias = program.record.findArgument(findBias(call));
  if (!bias || !claimed.insert(bias->name).second)
    return;
  for (int index : nodes) {
    const onnx::NodeProto &node = program.node(index);
    const onnx::TensorProto *weight =
        node.input_size() == 2 ? program.findTensor(node.input(1)) : nullptr;
    StringRef op = node.op_type();
    bool isProduct =
        op == "Gemm" || (op == "MatMul" && weight && weight->dims_size() == 2);
    if (isFloatTensor(weight) && weight->dims_size() >= 2 &&
        (isProduct || op == "Conv" || op == "ConvTranspose")) {
      explained.push_back({Explanation::MissingBias, index, 2, bias});
      return;
    }
  }
}

std::vector<Explanation> CallExplainer::run() {
  for (StringRef value : call.values())
    isAllKnown &= program.record.findArgument(value) || program.hasValue(value);
  isAllNumbers =
      isAllKnown && program.findTensors(call).empty() && !isBatchNorm(call);
  for (int index : nodes)
    for (int operand = 0; operand < program.node(index).input_size(); ++operand)
      explain(index, operand);
  explainBias();
  // The only operand that is no argument is the only one that is missing.
  auto &candidates = unnamed.empty() ? unnamedNumbers : unnamed;
  if (const Origin *tensor = findUnclaimed(); tensor && candidates.size() == 1)
    tensors.push_back({Explanation::Tensor, candidates.front().first,
                       candidates.pop_back_val().second, tensor});
  for (auto [index, operand] :
       concat<std::pair<int, int>>(unnamedNumbers, unnamed))
    if (const Origin *own = findOwn(index, operand);
        isAllKnown && own && own->kind == Origin::Parameter)
      explained.push_back({Explanation::Number, index, operand, own});
  append_range(explained, tensors);
  return std::move(explained);
}

namespace {
class OperandEditor {
public:
  OperandEditor(RecordedProgram &program, Findings &findings)
      : program(program), findings(findings) {}

  void apply(const Explanation &explanation);

  /// Parameters in whose place another tensor is read now.
  std::vector<std::string> replaced;

private:
  bool bind(int node, int operand, const Origin &tensor);
  void separateNumber(int node, int operand);
  void addBias(int node, const Origin &bias);

  RecordedProgram &program;
  Findings &findings;
};
} // namespace

/// Makes an operand a tensor of the state dict. False if the file has that
/// tensor in another shape.
bool OperandEditor::bind(int index, int operand, const Origin &tensor) {
  onnx::NodeProto &node = program.node(index);
  const onnx::TensorProto &stored = *program.findTensor(node.input(operand));
  bool isOther = program.record.find(stored.name());
  SmallVector<int64_t> dims = dimsOf(stored), own = dims;
  Holding holding = isOther ? Holding::Same
                            : findHolding(*program.origin(index).call, node,
                                          operand, dims.size());
  if (holding == Holding::Transposed)
    std::reverse(own.begin(), own.end());
  else if (holding == Holding::Vector)
    own = {numElements(dims)};
  if (const onnx::TensorProto *present = program.findTensor(tensor.name)) {
    if (dimsOf(*present) != own)
      return false;
  } else {
    findings.add(isOther ? Finding::Apart : Finding::Named,
                 quote(stored.name(), "is", tensor.name));
    if (isOther)
      replaced.push_back(stored.name());
    program.addTensor(stored, tensor.name, own);
    if (holding == Holding::Transposed)
      findings.tensors.transposed.insert(tensor.name);
  }
  std::string value = tensor.name;
  if (holding == Holding::Transposed)
    value = program.applyBefore(index, "Transpose", {value});
  else if (holding == Holding::Vector)
    value = program.reshapeBefore(index, value, dims);
  node.set_input(operand, value);
  return true;
}

void OperandEditor::separateNumber(int index, int operand) {
  onnx::NodeProto &node = program.node(index);
  const onnx::TensorProto &stored = *program.findTensor(node.input(operand));
  std::string name = program.makeName(node.output(0) + "/constant");
  if (program.record.find(stored.name()))
    replaced.push_back(stored.name());
  program.addTensor(stored, name, dimsOf(stored));
  node.set_input(operand, name);
}

/// Adds a bias to a product or convolution, by the shape of its weight.
void OperandEditor::addBias(int index, const Origin &bias) {
  onnx::NodeProto &node = program.node(index);
  const onnx::TensorProto &weight = *program.findTensor(node.input(1));
  StringRef op = node.op_type();
  int64_t size = weight.dims(1);
  if (op == "Conv" || (op == "Gemm" && readInt(node, "transB", 0)))
    size = weight.dims(0);
  else if (op == "ConvTranspose")
    size *= readInt(node, "group", 1);
  if (size <= 0)
    return;
  if (const onnx::TensorProto *present = program.findTensor(bias.name)) {
    if (dimsOf(*present) != ArrayRef<int64_t>{size})
      return;
  } else {
    int64_t width = weight.data_type() == onnx::TensorProto::DOUBLE ? 8 : 4;
    program.addTensor(weight.data_type(), std::string(size * width, '\0'),
                      bias.name, {size});
  }
  findings.add(Finding::ZeroBias, quote(bias.name));
  if (op != "MatMul") {
    node.add_input(bias.name);
    return;
  }
  onnx::NodeProto &add = program.addAfter(index);
  add.set_op_type("Add");
  add.set_name(node.name());
  add.add_output(node.output(0));
  node.set_output(0, program.makeName(node.output(0) + "/product"));
  add.add_input(node.output(0));
  add.add_input(bias.name);
}

void OperandEditor::apply(const Explanation &explanation) {
  const auto &[kind, index, operand, tensor] = explanation;
  if (kind == Explanation::Number)
    separateNumber(index, operand);
  else if (kind == Explanation::MissingBias)
    addBias(index, *tensor);
  else if (!bind(index, operand, *tensor))
    findings.add(Finding::OtherShape, "operand " + Twine(operand) + " of " +
                                          quote(program.node(index).name(),
                                                "should be", tensor->name));
}

std::vector<std::string> restoreOperands(RecordedProgram &program,
                                         Findings &findings) {
  std::vector<Explanation> explanations;
  for (auto &[name, nodes] : program.findCalls())
    append_range(explanations, CallExplainer(program, nodes).run());
  OperandEditor editor(program, findings);
  for (const Explanation &explanation : explanations)
    editor.apply(explanation);
  return std::move(editor.replaced);
}

} // namespace dtc::frontend
