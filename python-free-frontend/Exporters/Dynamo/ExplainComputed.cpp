//===- ExplainComputed.cpp - what tensors were computed from --------------===//
//
// By the first of these that says it: the parameter whose elements a tensor
// has; the exporter's list of the steps to it; the parameters that nothing uses
// of the modules around it, with the line of source that names one of them.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/CallTable.h"
#include "Exporters/Dynamo/ComputedTensor.h"
#include "Exporters/Dynamo/RecordedSteps.h"
#include "Exporters/ModuleNames.h"
#include "Support/Fingerprint.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

#include <set>

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
  isRecorded = isSliced = addsNumber = false;
}

namespace {
using Origins = std::vector<const Origin *>;

class ComputedExplainer {
public:
  ComputedExplainer(const RecordedProgram &program, Findings &findings)
      : program(program), findings(findings) {}

  std::vector<ComputedTensor> run();

private:
  using FindNames = std::vector<std::string> (*)(StringRef line);

  /// Whether nothing uses a tensor of the state dict.
  bool isUnused(const Origin &origin) const {
    return !program.isUsed(origin.name) && !findings.isAlias(origin.name);
  }
  /// The node that reads a tensor first.
  const NodeRecord &user(const ComputedTensor &tensor) const {
    return program.origin(tensor.uses.front().first);
  }
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
  bool isUsedIn(const ComputedTensor &tensor, StringRef module) const;
  Origins findCandidates(const ComputedTensor &tensor) const;
  Origins findMentioned(const NodeRecord &user,
                        FindNames findNames = findAttributes) const;
  Origins findLost(const ComputedTensor &tensor) const;
  bool isDoubtful(const ComputedTensor &tensor) const;
  void findCandidatesOfOthers();
  void chooseByLine();
  void dropUnclear();
  void chooseByElements();

  const RecordedProgram &program;
  Findings &findings;
  std::vector<ComputedTensor> list;
  /// Parameters that the file has, by number of elements.
  std::map<int64_t, std::vector<std::pair<const Origin *, TensorData>>> present;
  /// Whether it lacks some, or buffers.
  bool lacksParameters = false, lacksBuffers = false;
  /// Parameters that are arguments of calls, by module and line of these.
  std::map<std::pair<StringRef, StringRef>, std::set<const Origin *>> arguments;
};

/// Whether it is what a linear layer gives: of zeros, its bias.
bool isLinear(const ComputedTensor &tensor) {
  return dropNumber(tensor.call) == "linear";
}

/// Whether one module is the other or inside of it.
bool isInside(StringRef module, StringRef outer) {
  return outer.empty() || module == outer ||
         (module.starts_with(outer) && module[outer.size()] == '.');
}

bool isParameter(const Origin *origin) {
  return origin->kind == Origin::Parameter;
}
} // namespace

void ComputedExplainer::readParameters() {
  for (const Origin &origin : program.record.origins()) {
    (isParameter(&origin) ? lacksParameters : lacksBuffers) |= isUnused(origin);
    std::optional<TensorData> data =
        isParameter(&origin)
            ? program.readFloats(program.findTensor(origin.name))
            : std::nullopt;
    if (!data)
      continue;
    data->transposed = findings.tensors.transposed.contains(origin.name);
    present[numElements(data->shape)].push_back({&origin, std::move(*data)});
  }
  for (int index = 0; index < program.size(); ++index)
    if (const NodeRecord &node = program.origin(index); node.call)
      for (const Origin *origin : program.findTensors(*node.call))
        arguments[{node.module(), node.source}].insert(origin);
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
  // Of nodes that are no call, the tensor's name is all that there is.
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
  if (lacksParameters || isLinear(tensor) ||
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
  // Of equal tensors the exporter keeps one, and says nothing of the others.
  if (isLinear(tensor))
    tensor.view = std::nullopt;
  tensor.candidates = findCandidates(tensor);
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
  Origins found, lost = findLost(tensor);
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
  if (at == StringRef::npos || (user(tensor).call && !isUsedIn(tensor, module)))
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

/// What was done with a parameter: by what the call that reads it multiplies it
/// by, by the only step, or by the line of source.
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
  // What made a value within a call is not recorded.
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
  tensor.addsNumber = steps->addsNumber;
  tensor.isSliced = steps->isSliced;
  tensor.isRecorded = undone->isSure;
}

bool ComputedExplainer::isUsedIn(const ComputedTensor &tensor,
                                 StringRef module) const {
  return any_of(tensor.uses, [&](const auto &place) {
    return isInside(program.origin(place.first).module(), module);
  });
}

/// Parameters that nothing uses: of the modules that use the tensor and those
/// inside, else of those around.
Origins ComputedExplainer::findCandidates(const ComputedTensor &tensor) const {
  Origins inside, around;
  for (const Origin &origin : program.record.origins()) {
    if (!isParameter(&origin) || !isUnused(origin))
      continue;
    StringRef owner = splitName(origin.name).first;
    if (any_of(tensor.uses, [&](const auto &place) {
          return isInside(owner, program.origin(place.first).module());
        }))
      inside.push_back(&origin);
    else if (isUsedIn(tensor, owner))
      around.push_back(&origin);
  }
  // What is around may as well be of buffers, such as the frequencies of rotary
  // embeddings.
  return inside.empty() && !lacksBuffers ? around : inside;
}

/// The tensors of the state dict that the source line of a node names.
Origins ComputedExplainer::findMentioned(const NodeRecord &user,
                                         FindNames findNames) const {
  Origins mentioned;
  std::string module = user.module().empty() ? "" : user.module().str() + ".";
  for (const std::string &attribute : findNames(user.source))
    // "items.weight.T", "items.weight", "items"
    for (StringRef path = attribute; !path.empty();
         path = path.contains('.') ? path.rsplit('.').first : "")
      if (const Origin *origin = program.record.find(module + path.str());
          origin && !is_contained(mentioned, origin))
        mentioned.push_back(origin);
  return mentioned;
}

/// The tensors that the source line of the reader names, and that no call of
/// the line has as an argument: the exporter computed that call.
Origins ComputedExplainer::findLost(const ComputedTensor &tensor) const {
  const NodeRecord &reader = user(tensor);
  Origins lost = findMentioned(reader);
  auto known = arguments.find({reader.module(), reader.source});
  if (known != arguments.end())
    erase_if(lost,
             [&](const Origin *origin) { return known->second.count(origin); });
  return lost;
}

/// Whether a tensor may have been computed of parameters that the model also
/// uses otherwise, or of random numbers: by a layer or dropout, as a number
/// that is added, as penalties of weights are, or on a line that names a
/// parameter or is not known.
bool ComputedExplainer::isDoubtful(const ComputedTensor &tensor) const {
  StringRef op = program.node(tensor.uses.front().first).op_type();
  bool isAdded = op == "Add" || op == "Sub";
  return (isAdded && numElements(tensor.data.shape) == 1) ||
         isLayerOrDropout(tensor.call) || user(tensor).source.empty() ||
         any_of(findMentioned(user(tensor), findMembers), isParameter);
}

/// Of tensors whose parameters no rule has found: those of a tensor that is
/// alike, as each layer has a copy of what the first computed, or those that
/// the line of source names.
void ComputedExplainer::findCandidatesOfOthers() {
  for (int round : {0, 1})
    for (ComputedTensor &tensor : list) {
      for (const ComputedTensor &other : list)
        if (!tensor.origin && tensor.candidates.empty() &&
            other.isAlike(tensor))
          tensor.candidates = other.candidates;
      if (round == 0 || tensor.origin || !tensor.candidates.empty())
        continue;
      copy_if(findLost(tensor), std::back_inserter(tensor.candidates),
              isParameter);
      if (tensor.candidates.empty() && isDoubtful(tensor))
        findings.add(Finding::Doubtful, quote(tensor.call));
    }
  erase_if(list, [](const ComputedTensor &tensor) {
    return !tensor.origin && tensor.candidates.empty();
  });
}

/// Calls of one kind that a line makes of as many parameters are in the order
/// in which it names these.
void ComputedExplainer::chooseByLine() {
  MapVector<std::pair<StringRef, StringRef>, SmallVector<ComputedTensor *>>
      lines;
  for (ComputedTensor &tensor : list)
    if (!tensor.origin)
      lines[{user(tensor).module(), user(tensor).source}].push_back(&tensor);
  for (auto &entry : lines) {
    SmallVector<ComputedTensor *> &calls = entry.second;
    Origins mentioned = findMentioned(user(*calls.front()));
    erase_if(mentioned, [&](const Origin *origin) {
      return !isUnused(*origin) ||
             none_of(calls, [&](const ComputedTensor *tensor) {
               return is_contained(tensor->candidates, origin);
             });
    });
    StringRef source = entry.first.second, op = dropNumber(calls.front()->call);
    if (mentioned.size() != calls.size() ||
        any_of(calls, [&](const ComputedTensor *tensor) {
          return dropNumber(tensor->call) != op;
        }))
      continue;
    sort(calls, [](const ComputedTensor *a, const ComputedTensor *b) {
      return getNumber(a->call) < getNumber(b->call);
    });
    for (auto [tensor, origin] : zip(calls, mentioned)) {
      tensor->origin = origin;
      if (auto term = findTerm(source, splitName(origin->name).second, op))
        tensor->setTerms({*term});
    }
  }
}

/// Two that differ can not be one parameter, but for one whose elements are
/// known.
void ComputedExplainer::dropUnclear() {
  std::set<const Origin *> unclear;
  for (const ComputedTensor &tensor : list)
    for (const ComputedTensor &other : list)
      if (&tensor != &other && tensor.origin && tensor.origin == other.origin &&
          !tensor.isPresent && !program.findTensor(tensor.origin->name) &&
          !tensor.isAlike(other))
        unclear.insert(tensor.origin);
  for (ComputedTensor &tensor : list)
    if (unclear.count(tensor.origin))
      tensor.forget();
  for (ComputedTensor &tensor : list) {
    if (tensor.origin)
      tensor.candidates = {tensor.origin};
    else
      erase_if(tensor.candidates, [&](const Origin *origin) {
        return any_of(list, [&](const ComputedTensor &other) {
          return other.origin == origin && !other.isAlike(tensor);
        });
      });
    if (tensor.candidates.empty() && program.findSteps(tensor.stored->name()))
      findings.add(Finding::Doubtful, quote(tensor.call));
  }
  erase_if(list, [](const ComputedTensor &tensor) {
    return tensor.candidates.empty();
  });
}

/// A tensor is of its only candidate if all others that could be are alike.
void ComputedExplainer::chooseByElements() {
  for (ComputedTensor &tensor : list) {
    const Origin *only = tensor.candidates.front();
    if (!tensor.origin && tensor.candidates.size() == 1 && isUnused(*only) &&
        all_of(list, [&](const ComputedTensor &other) {
          return &other == &tensor || !other.dependsOn(only) ||
                 other.isAlike(tensor);
        }))
      tensor.origin = only;
  }
}

std::vector<ComputedTensor> ComputedExplainer::run() {
  readParameters();
  collect();
  findCandidatesOfOthers();
  chooseByLine();
  dropUnclear();
  chooseByElements();
  return std::move(list);
}

std::vector<ComputedTensor> explainComputed(const RecordedProgram &program,
                                            Findings &findings) {
  return ComputedExplainer(program, findings).run();
}

} // namespace dtc::frontend
