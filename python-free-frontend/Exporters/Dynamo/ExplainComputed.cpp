//===- ExplainComputed.cpp - what tensors were computed from --------------===//
//
// By the first of these that says it: the parameter whose elements a tensor
// has; the exporter's list of the steps to it; the parameters that nothing uses
// of the modules around it, with the line of source that names one of them.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/CallTable.h"
#include "Exporters/Dynamo/ParameterCandidates.h"
#include "Exporters/Dynamo/RecordedSteps.h"
#include "Support/Fingerprint.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

bool ComputedTensor::dependsOn(const Origin *parameter) const {
  return origin ? origin == parameter : is_contained(candidates, parameter);
}

bool ComputedTensor::isAlike(const ComputedTensor &other) const {
  if (!terms.empty() || !other.terms.empty())
    return !terms.empty() && !other.terms.empty() &&
           data.bytes == other.data.bytes;
  return view && other.view && view->bytes == other.view->bytes &&
         view->isTransposed == other.view->isTransposed;
}

void ComputedTensor::setTerms(std::vector<Term> functions) {
  if (std::optional<std::string> undone = undoAll(functions, data)) {
    terms = std::move(functions);
    view.emplace();
    view->shape = view->unrepeated = data.shape;
    view->bytes = std::move(*undone);
  }
}

void ComputedTensor::forget() {
  origin = nullptr;
  if (!terms.empty())
    view = std::nullopt;
  terms.clear();
  isRecorded = isSliced = false;
}

namespace {
class ComputedExplainer {
public:
  ComputedExplainer(const RecordedProgram &program, Findings &findings)
      : program(program), transposed(findings.tensors.transposed),
        candidates(program, findings) {}

  std::vector<ComputedTensor> run();

private:
  void readParameters();
  std::string findCall(int node, int operand) const;
  void collect();
  bool explain(ComputedTensor &tensor) const;
  const Origin *findPresent(const ComputedTensor &tensor) const;
  bool mayBeBias(const ComputedTensor &tensor, const Origin &bias) const;
  void explainByRecord(ComputedTensor &tensor) const;
  void explainBySteps(ComputedTensor &tensor) const;
  std::optional<Term> findTermOf(const ComputedTensor &tensor,
                                 const Origin &parameter) const;
  /// The node that reads a tensor first.
  const NodeRecord &user(const ComputedTensor &tensor) const {
    return program.origin(tensor.uses.front().first);
  }

  const RecordedProgram &program;
  const StringSet<> &transposed;
  ParameterCandidates candidates;
  std::vector<ComputedTensor> list;
  /// Parameters that the file has, by number of elements.
  std::map<int64_t, std::vector<std::pair<const Origin *, TensorData>>> present;
};

/// Whether it is what a linear layer gives: of zeros, its bias.
bool isLinear(const ComputedTensor &tensor) {
  return dropNumber(tensor.call) == "linear";
}

bool isParameter(const Origin *origin) {
  return origin->kind == Origin::Parameter;
}
} // namespace

void ComputedExplainer::readParameters() {
  for (const Origin &origin : program.record.origins()) {
    std::optional<TensorData> data =
        isParameter(&origin)
            ? program.readFloats(program.findTensor(origin.name))
            : std::nullopt;
    if (!data)
      continue;
    data->transposed = transposed.contains(origin.name);
    present[numElements(data->shape)].push_back({&origin, std::move(*data)});
  }
}

/// The call that is gone, and whose result an operand is: by the place among
/// arguments, by its name, or the only argument that no node computes, of a
/// call that takes tensors alike.
std::string ComputedExplainer::findCall(int index, int operand) const {
  const onnx::NodeProto &node = program.node(index);
  const std::string &input = node.input(operand);
  const onnx::TensorProto *tensor = program.findTensor(input);
  if (!isFloatTensor(tensor) || program.record.find(input))
    return "";
  // A node without a call has no evidence but the tensor's name.
  if (!program.origin(index).call)
    return isLayerOrDropout(input) ? input : "";
  const RecordedCall &call = *program.origin(index).call;
  if (std::optional<StringRef> value = findValue(call, node, operand);
      value && program.isGone(*value))
    return value->str();
  if (call.names(input) || program.findSteps(input))
    return input;
  // A bias of zeros of a convolution without one is the exporter's.
  std::optional<unsigned> number = findArgument(call, node, operand);
  if ((number && *number >= call.arguments.size()) ||
      tensor->dims_size() == 0 || call.op == "scaled_dot_product_attention")
    return "";
  SmallVector<StringRef> gone = call.values();
  erase_if(gone, [&](StringRef value) { return !program.isGone(value); });
  return gone.size() == 1 ? gone.front().str() : "";
}

void ComputedExplainer::collect() {
  std::map<std::string, ComputedTensor> calls;
  StringSet<> unclear; // several tensors could be that call's
  for (int index = 0; index < program.size(); ++index)
    for (auto [operand, input] : enumerate(program.node(index).input())) {
      std::string call = findCall(index, operand);
      if (call.empty() || isCreation(call))
        continue;
      ComputedTensor &tensor = calls[call];
      const onnx::TensorProto *stored = program.findTensor(input);
      if (tensor.stored && tensor.stored != stored)
        unclear.insert(call);
      tensor.stored = stored;
      tensor.call = call;
      tensor.uses.push_back({index, operand});
    }
  for (auto &[name, tensor] : calls) {
    std::optional<TensorData> data = program.readFloats(tensor.stored);
    if (!data || unclear.contains(name))
      continue;
    tensor.data = std::move(*data);
    if (explain(tensor))
      list.push_back(std::move(tensor));
  }
}

/// False if a tensor was computed of numbers alone.
bool ComputedExplainer::explain(ComputedTensor &tensor) const {
  if (candidates.lacksParameters || isLinear(tensor) ||
      present.count(numElements(tensor.data.shape)))
    tensor.view =
        findView(tensor.data, dropNumber(tensor.call), program.batch());
  if ((tensor.origin = findPresent(tensor))) {
    tensor.isPresent = true;
    return true;
  }
  StringRef stored = tensor.stored->name();
  if (program.findSteps(stored) &&
      none_of(program.findSources(stored), isParameter))
    return false;
  if (program.findSteps(tensor.call)) {
    explainByRecord(tensor);
    return true;
  }
  if (isLinear(tensor))
    tensor.view = std::nullopt;
  tensor.candidates = candidates.find(tensor);
  return true;
}

/// The parameter of the file whose elements a tensor has, moved at most. If the
/// source line names tensors, it is one of them; a copy of a parameter may be
/// another parameter that is not in the file, or a buffer.
const Origin *
ComputedExplainer::findPresent(const ComputedTensor &tensor) const {
  const std::optional<ParameterView> &view = tensor.view;
  if (!view || isUniform(view->bytes, byteSize(tensor.data.dtype)))
    return nullptr;
  auto alike = present.find(
      numElements(isLinear(tensor) ? view->shape : tensor.data.shape));
  if (alike == present.end())
    return nullptr;
  TensorData own;
  own.dtype = tensor.data.dtype;
  own.shape = view->shape;
  own.bytes = ArrayRef(view->bytes.data(), view->bytes.size());
  own.transposed = view->isTransposed;
  std::vector<const Origin *> found, lost = candidates.findLost(tensor);
  for (const auto &[origin, data] : alike->second)
    if (compareElements(data, own) == Match::Equal &&
        (!isLinear(tensor) || mayBeBias(tensor, *origin)))
      found.push_back(origin);
  for (const Origin *origin : lost)
    if (is_contained(found, origin))
      return origin;
  return found.size() == 1 && lost.empty() ? found.front() : nullptr;
}

/// Whether a linear layer, of which all rows have the elements of `bias`, has
/// it: it is of the module that uses the layer, and the weights beside it are
/// not what made the product zero.
bool ComputedExplainer::mayBeBias(const ComputedTensor &tensor,
                                  const Origin &bias) const {
  std::string weight = bias.name;
  auto [module, name] = splitName(bias.name);
  auto at = name.find("bias");
  // A node without metadata says nothing of where it is.
  if (at == StringRef::npos ||
      (user(tensor).call && !candidates.isUsedIn(tensor, module)))
    return false;
  weight.replace(bias.name.size() - name.size() + at, 4, "weight");
  std::optional<TensorData> data =
      program.readFloats(program.findTensor(weight));
  return data && any_of(data->bytes, [](char byte) { return byte != 0; });
}

/// By the exporter's list of what a tensor was computed from.
void ComputedExplainer::explainByRecord(ComputedTensor &tensor) const {
  SmallVector<const Origin *> sources = program.findSources(tensor.call);
  copy_if(sources, std::back_inserter(tensor.candidates), isParameter);
  if (tensor.candidates.size() != 1)
    return;
  const Origin *only = tensor.candidates.front();
  bool isStored = program.findTensor(only->name);
  if (std::optional<Term> term = findTermOf(tensor, *only)) {
    tensor.setTerms({*term});
    if (!tensor.terms.empty())
      tensor.origin = only;
  } else if (sources.size() == 1 && !isStored) {
    explainBySteps(tensor);
  }
  // It is not what the file has of the parameter.
  if (isStored)
    tensor.view = std::nullopt;
}

/// Finds the arithmetic on a parameter: from the factor of the call that reads
/// it, from the only step, or from the line of source.
std::optional<Term>
ComputedExplainer::findTermOf(const ComputedTensor &tensor,
                              const Origin &parameter) const {
  const NodeRecord &reader = user(tensor);
  StringRef op = dropNumber(tensor.call);
  if (reader.call && reader.call->names(parameter.argument) &&
      program.findSources(tensor.call).size() == 1)
    if (std::optional<double> scale = findScale(*reader.call))
      return Term{Term::Multiply, *scale};
  if (program.findSteps(tensor.call)->size() == 1)
    if (std::optional<Term> function = findFunction(op))
      return function;
  // The line may have several calls of the operator.
  if (program.findTensor(parameter.name))
    return std::nullopt;
  return findTerm(reader.source, splitName(parameter.name).second, op);
}

/// By the names of the calls on the way to a tensor.
void ComputedExplainer::explainBySteps(ComputedTensor &tensor) const {
  // The file does not record the steps within a call.
  if (dropNumber(tensor.call) == "val")
    return;
  std::vector<StringRef> names;
  for (const std::string &name : *program.findSteps(tensor.call))
    if (!program.record.find(name))
      names.push_back(name);
  std::optional<RecordedSteps> steps = readSteps(tensor.call, names);
  std::optional<UndoneSteps> undone =
      steps ? undoSteps(*steps, tensor.data) : std::nullopt;
  if (!undone) {
    // Without a lookup no positions are computed, but the parameter is.
    bool isLookup = any_of(names, [](StringRef name) {
      return is_contained({"embedding", "index"}, dropNumber(name));
    });
    if (!isLookup && any_of(names, isArithmetic))
      tensor.view = std::nullopt;
    return;
  }
  tensor.origin = tensor.candidates.front();
  tensor.view = std::move(undone->parameter);
  tensor.terms = std::move(undone->terms);
  tensor.isSliced = steps->isSliced;
  tensor.isRecorded = undone->isSure;
}

std::vector<ComputedTensor> ComputedExplainer::run() {
  readParameters();
  collect();
  candidates.choose(list);
  return std::move(list);
}

std::vector<ComputedTensor> explainComputed(const RecordedProgram &program,
                                            Findings &findings) {
  return ComputedExplainer(program, findings).run();
}

} // namespace dtc::frontend
