//===- ComputedTensors.cpp - what an exporter computed --------------------===//
//
// See ComputedTensors.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/ComputedTensors.h"
#include "Exporters/Dynamo/CallKinds.h"
#include "Exporters/Dynamo/FoldedSteps.h"
#include "Exporters/Dynamo/FxRoles.h"
#include "Exporters/Dynamo/TensorSources.h"
#include "Exporters/ModuleNames.h"
#include "Support/Fingerprint.h"
#include "Support/TensorData.h"

#include "llvm/ADT/MapVector.h"

#include <cmath>
#include <cstring>
#include <set>

using namespace llvm;

namespace dtc::frontend {

namespace {
class ComputedFinder {
public:
  ComputedFinder(const FxGraph &graph, TensorReader &reader,
                 const StringSet<> &transposed)
      : graph(graph), reader(reader), transposed(transposed) {}

  ComputedTensors run();

private:
  using FindNames = std::vector<std::string> (*)(StringRef line);

  std::string findCall(int node, int operand) const;
  bool isOnlyParameter(const Origin &origin) const;
  void readPresent();
  const Origin *findPresent(const Computed &computed) const;
  bool isDoubtful(const Computed &computed) const;
  bool mayBeBias(const Computed &computed, const Origin &bias) const;
  std::vector<const Origin *> findLost(int node) const;
  bool isUsedIn(const Computed &computed, StringRef module) const;
  bool mayEqual(StringRef call, const Origin &own,
                const onnx::TensorProto &tensor) const;
  void collectEqual();
  std::vector<const Origin *> findCandidates(const Computed &computed) const;
  std::vector<const Origin *> findTables(const Computed &computed) const;
  void collect();
  std::vector<const Origin *>
  findMentioned(int node, FindNames findNames = findAttributes) const;
  void findOriginsBySource();
  void findOriginsByElements();

  const FxGraph &graph;
  TensorReader &reader;
  const StringSet<> &transposed;
  std::vector<Computed> list;
  std::vector<std::string> doubtful, equal;
  PresentParameters present;
  /// Whether it lacks some, or buffers.
  bool lacksParameters = false, lacksBuffers = false;
  /// Parameters that are arguments of calls, by module and line of these.
  std::map<std::pair<StringRef, StringRef>, std::set<const Origin *>> arguments;
};

/// Whether the elements are 0 and one large number, which is added to scores.
template <typename T> bool isAddedMask(ArrayRef<char> bytes) {
  T other = 0;
  for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    if (value == 0 || value == other)
      continue;
    if (other != 0 || !(std::fabs(value) >= 10))
      return false;
    other = value;
  }
  return other != 0;
}

bool isMask(const TensorData &data) {
  return data.dtype == DType::F64 ? isAddedMask<double>(data.bytes)
                                  : isAddedMask<float>(data.bytes);
}

/// Whether it is what a linear layer gives: of zeros, its bias.
bool isLinear(const Computed &computed) {
  return getStem(computed.call) == "linear";
}

/// Whether one module is the other or inside of it.
bool isInside(StringRef module, StringRef outer) {
  return outer.empty() || module == outer ||
         (module.starts_with(outer) && module[outer.size()] == '.');
}
} // namespace

void Computed::setTerms(std::vector<SourceTerm> functions) {
  if (std::optional<std::string> undone = undoAll(functions, data)) {
    terms = std::move(functions);
    folded.emplace();
    folded->shape = folded->unrepeated = data.shape;
    folded->bytes = std::move(*undone);
  }
}

/// The call that is gone, and whose result an operand is: by the place among
/// arguments, by its name, or the only argument that no node computes, of a
/// call that takes tensors alike.
std::string ComputedFinder::findCall(int index, int operand) const {
  const onnx::NodeProto &node = graph.node(index);
  const std::string &input = node.input(operand);
  const onnx::TensorProto *tensor = graph.findTensor(input);
  if (!isFloatTensor(tensor) || graph.provenance.find(input))
    return "";
  // Of nodes that are no call, the tensor's name is all that there is.
  if (!graph.origin(index).call)
    return isLayerOrDropout(input) ? input : "";
  const FxCall &call = *graph.origin(index).call;
  if (std::optional<StringRef> value = findValue(call, node, operand);
      value && graph.isGone(*value))
    return value->str();
  if (call.uses(input) || graph.provenance.hasSources(input))
    return input;
  // A bias of zeros of a convolution without one is the exporter's.
  std::optional<unsigned> number = findArgument(call, node, operand);
  if (number && *number >= call.arguments.size())
    return "";
  if (tensor->dims_size() == 0 || call.op == "scaled_dot_product_attention")
    return "";
  std::string gone;
  for (const auto &argument : call.arguments)
    for (const std::string &value : argument)
      if (graph.isGone(value)) {
        if (!gone.empty())
          return "";
        gone = value;
      }
  return gone;
}

/// A call whose operands are all known is gone, and its result is an
/// initializer. If parameters of that module are gone too, it was computed of
/// these.
void ComputedFinder::collect() {
  TensorSources sources(graph, present);
  std::map<std::string, Computed> calls;
  for (int index = 0; index < graph.size(); ++index)
    for (auto [operand, input] : enumerate(graph.node(index).input())) {
      std::string call = findCall(index, operand);
      if (call.empty() || isCreation(call))
        continue;
      Computed &computed = calls[call];
      const onnx::TensorProto *tensor = graph.findTensor(input);
      computed.isUnclear |= computed.stored && computed.stored != tensor;
      computed.stored = tensor;
      computed.call = call;
      computed.uses.push_back({index, operand});
    }
  for (auto &[name, computed] : calls) {
    Expected<TensorData> data = reader.read(*computed.stored);
    if (!data) {
      consumeError(data.takeError()); // reported when parameters are read
      continue;
    }
    computed.data = std::move(*data);
    if (computed.isUnclear || !computed.data.hasData)
      continue;
    // A temperature may be as large, but a count of elements is a number.
    bool isOfParameters = getStem(name) != "val" &&
                          sources.isOfParameters(computed.stored->name());
    if (isMask(computed.data) && !isOfParameters)
      continue;
    if (lacksParameters || isLinear(computed) ||
        present.count(numElements(computed.data.shape)))
      computed.folded = unfold(computed.data, getStem(name), graph.batch());
    if (const Origin *origin = findPresent(computed)) {
      computed.origin = origin;
      computed.isPresent = true;
    } else if (sources.isOfNumbers(computed.stored->name())) {
      continue;
    } else if (graph.provenance.hasSources(computed.call)) {
      sources.read(computed);
    } else {
      if (isLinear(computed))
        computed.folded = std::nullopt;
      computed.candidates = findCandidates(computed);
      sources.readAlike(computed);
    }
    list.push_back(std::move(computed));
  }
  // Each layer has a copy of what the first computed.
  auto copyAlike = [&](Computed &computed) {
    for (const Computed &other : list)
      if (computed.candidates.empty() && other.isAlike(computed))
        computed.candidates = other.candidates;
  };
  for (Computed &computed : list)
    if (!computed.origin)
      copyAlike(computed);
  for (Computed &computed : list) {
    if (computed.origin)
      continue;
    copyAlike(computed);
    if (computed.candidates.empty())
      computed.candidates = findTables(computed);
    if (!computed.candidates.empty())
      continue;
    computed.candidates = findLost(computed.uses.front().first);
    erase_if(computed.candidates, [](const Origin *origin) {
      return origin->kind != Origin::Parameter;
    });
  }
  for (const Computed &computed : list)
    if (!computed.origin && computed.candidates.empty() && isDoubtful(computed))
      doubtful.push_back("'" + computed.call + "'");
  erase_if(list, [](const Computed &computed) {
    return !computed.origin && computed.candidates.empty();
  });
}

/// Whether a call that is gone may have given the elements of a parameter, but
/// is not the parameter.
bool ComputedFinder::mayEqual(StringRef call, const Origin &own,
                              const onnx::TensorProto &tensor) const {
  StringRef stem = getStem(call);
  // What is moved is the parameter, but for its transpose; constants that are
  // written as tensors are copied, too.
  bool isCopy = is_contained({"clone", "_to_copy"}, stem) &&
                any_of(arguments, [&](const auto &entry) {
                  return entry.second.count(&own);
                });
  if (is_contained({"t", "transpose", "permute", "tril", "triu"}, stem) ||
      isCopy)
    return true;
  if (isMove(call) || isCreation(call) || isLayerOrDropout(call))
    return false;
  // Arithmetic with numbers gives elements back only if they are equal. The
  // exporter drops that which changes nothing.
  if (!is_contained({"add", "sub", "rsub", "mul", "div"}, stem))
    return true;
  Expected<TensorData> data = reader.read(tensor);
  if (!data) {
    consumeError(data.takeError()); // reported when parameters are read
    return false;
  }
  return data->hasData && isUniform(*data);
}

/// Of equal tensors the exporter keeps one: of p and 1 - p, of 1/2 both, p.
void ComputedFinder::collectEqual() {
  std::set<std::string> found;
  for (int index = 0; index < graph.size(); ++index)
    for (auto [operand, input] : enumerate(graph.node(index).input())) {
      const Origin *own = graph.provenance.find(input);
      const std::optional<FxCall> &call = graph.origin(index).call;
      const onnx::TensorProto *tensor = graph.findTensor(input);
      if (!own || own->kind != Origin::Parameter || !call ||
          call->uses(own->argument) || !isFloatTensor(tensor))
        continue;
      std::optional<StringRef> value =
          findValue(*call, graph.node(index), operand);
      if (value && graph.isGone(*value) && mayEqual(*value, *own, *tensor) &&
          found.insert(value->str()).second)
        equal.push_back("'" + value->str() + "' of '" + own->name + "'");
    }
}

void ComputedFinder::readPresent() {
  for (const Origin &origin : graph.provenance.origins()) {
    if (origin.kind != Origin::Parameter) {
      lacksBuffers |= !graph.isUsed(origin.name);
      continue;
    }
    lacksParameters |= !graph.isUsed(origin.name);
    const onnx::TensorProto *tensor = graph.findTensor(origin.name);
    if (!isFloatTensor(tensor))
      continue;
    Expected<TensorData> data = reader.read(*tensor);
    if (!data) {
      consumeError(data.takeError()); // reported when parameters are read
      continue;
    }
    data->transposed = transposed.contains(origin.name);
    if (data->hasData)
      present[numElements(data->shape)].push_back({&origin, std::move(*data)});
  }
  for (int index = 0; index < graph.size(); ++index) {
    const NodeOrigin &node = graph.origin(index);
    if (!node.call)
      continue;
    for (const auto &argument : node.call->arguments)
      for (const std::string &value : argument)
        if (const Origin *origin = graph.provenance.findArgument(value))
          arguments[{node.module(), node.source}].insert(origin);
  }
}

/// The parameter of the file whose elements a tensor has, moved at most. If the
/// source line names tensors, it is one of them; a copy of a parameter may be
/// another parameter that is not in the file, or a buffer.
const Origin *ComputedFinder::findPresent(const Computed &computed) const {
  if (!computed.folded)
    return nullptr;
  auto alike = present.find(numElements(
      isLinear(computed) ? computed.folded->shape : computed.data.shape));
  if (alike == present.end() ||
      isUniform(computed.folded->bytes, byteSize(computed.data.dtype)))
    return nullptr;
  TensorData own;
  own.dtype = computed.data.dtype;
  own.shape = computed.folded->shape;
  own.bytes =
      ArrayRef(computed.folded->bytes.data(), computed.folded->bytes.size());
  own.transposed = computed.folded->isTransposed;
  SmallVector<const Origin *> found;
  for (const auto &[origin, data] : alike->second)
    if (compareElements(data, own) == Match::Equal &&
        (!isLinear(computed) || mayBeBias(computed, *origin)))
      found.push_back(origin);
  std::vector<const Origin *> lost = findLost(computed.uses.front().first);
  for (const Origin *origin : lost)
    if (is_contained(found, origin))
      return origin;
  return found.size() == 1 && lost.empty() ? found.front() : nullptr;
}

/// Whether a linear layer, of which all rows have the elements of `bias`, has
/// it: it is of the module that uses the layer, and the weights beside it are
/// not what made the product zero.
bool ComputedFinder::mayBeBias(const Computed &computed,
                               const Origin &bias) const {
  auto [module, name] = splitName(bias.name);
  auto at = name.find("bias");
  if (at == StringRef::npos)
    return false;
  // A node without metadata says nothing of where it is.
  if (graph.origin(computed.uses.front().first).call &&
      !isUsedIn(computed, module))
    return false;
  std::string weight =
      (name.take_front(at) + "weight" + name.drop_front(at + 4)).str();
  if (!module.empty())
    weight = (module + "." + weight).str();
  const onnx::TensorProto *tensor = graph.findTensor(weight);
  if (!tensor)
    return false;
  Expected<TensorData> data = reader.read(*tensor);
  if (!data) {
    consumeError(data.takeError()); // reported when parameters are read
    return false;
  }
  return any_of(data->bytes, [](char byte) { return byte != 0; });
}

/// The tensors that the source line of a node names, and that no call of the
/// line has as an argument: the exporter computed that call.
std::vector<const Origin *> ComputedFinder::findLost(int index) const {
  const NodeOrigin &user = graph.origin(index);
  std::vector<const Origin *> lost = findMentioned(index);
  auto known = arguments.find({user.module(), user.source});
  if (known != arguments.end())
    erase_if(lost,
             [&](const Origin *origin) { return known->second.count(origin); });
  return lost;
}

bool ComputedFinder::isUsedIn(const Computed &computed,
                              StringRef module) const {
  return any_of(computed.uses, [&](const auto &place) {
    return isInside(graph.origin(place.first).module(), module);
  });
}

/// Parameters that nothing uses: of the modules that use the tensor and those
/// inside, else of those around.
std::vector<const Origin *>
ComputedFinder::findCandidates(const Computed &computed) const {
  std::vector<const Origin *> inside, around;
  for (const Origin &origin : graph.provenance.origins()) {
    if (origin.kind != Origin::Parameter || graph.isUsed(origin.name))
      continue;
    StringRef owner = splitName(origin.name).first;
    if (any_of(computed.uses, [&](const auto &place) {
          return isInside(owner, graph.origin(place.first).module());
        }))
      inside.push_back(&origin);
    else if (isUsedIn(computed, owner))
      around.push_back(&origin);
  }
  // What is around may as well be of buffers, such as the frequencies of rotary
  // embeddings.
  return inside.empty() && !lacksBuffers ? around : inside;
}

/// Tables that nothing uses of a module around, if the tensor is rows of a
/// table: the positions that an encoder looks up for its layers.
std::vector<const Origin *>
ComputedFinder::findTables(const Computed &computed) const {
  std::vector<const Origin *> tables;
  if (!computed.folded || computed.folded->indices.empty())
    return tables;
  for (const Origin &origin : graph.provenance.origins()) {
    StringRef owner = splitName(origin.name).first;
    StringRef around = owner.contains('.') ? owner.rsplit('.').first : "";
    if (origin.kind == Origin::Parameter && !graph.isUsed(origin.name) &&
        !around.empty() && isUsedIn(computed, around) &&
        isOnlyParameter(origin))
      tables.push_back(&origin);
  }
  return tables;
}

/// Whether its module has no other parameter.
bool ComputedFinder::isOnlyParameter(const Origin &origin) const {
  return none_of(graph.provenance.origins(), [&](const Origin &other) {
    return &other != &origin && other.kind == Origin::Parameter &&
           splitName(other.name).first == splitName(origin.name).first;
  });
}

/// The tensors of the state dict that the source line of a node names.
std::vector<const Origin *>
ComputedFinder::findMentioned(int index, FindNames findNames) const {
  const NodeOrigin &user = graph.origin(index);
  std::vector<const Origin *> mentioned;
  for (const std::string &attribute : findNames(user.source))
    // "items.weight.T", "items.weight", "items"
    for (StringRef path = attribute; !path.empty();
         path = path.contains('.') ? path.rsplit('.').first : "") {
      const Origin *origin = graph.provenance.find(
          user.module().empty() ? path.str()
                                : (user.module() + "." + path).str());
      if (origin && !is_contained(mentioned, origin))
        mentioned.push_back(origin);
    }
  return mentioned;
}

/// Whether a tensor may have been computed of parameters that the model also
/// uses otherwise, or of random numbers: by a layer or dropout, as a number
/// that is added, as penalties of weights are, or on a line that names a
/// parameter or is not known.
bool ComputedFinder::isDoubtful(const Computed &computed) const {
  int index = computed.uses.front().first;
  StringRef op = graph.node(index).op_type();
  if (numElements(computed.data.shape) == 1 && (op == "Add" || op == "Sub"))
    return true;
  return isLayerOrDropout(computed.call) ||
         graph.origin(index).source.empty() ||
         any_of(findMentioned(index, findMembers), [](const Origin *origin) {
           return origin->kind == Origin::Parameter;
         });
}

/// Calls of one kind that a line makes of as many parameters are in the order
/// in which it names these.
void ComputedFinder::findOriginsBySource() {
  MapVector<std::pair<StringRef, StringRef>, SmallVector<Computed *>> lines;
  for (Computed &computed : list) {
    const NodeOrigin &user = graph.origin(computed.uses.front().first);
    if (!computed.origin)
      lines[{user.module(), user.source}].push_back(&computed);
  }
  for (auto &entry : lines) {
    SmallVector<Computed *> &calls = entry.second;
    StringRef source = entry.first.second;
    std::vector<const Origin *> mentioned =
        findMentioned(calls.front()->uses.front().first);
    erase_if(mentioned, [&](const Origin *origin) {
      return graph.isUsed(origin->name) ||
             none_of(calls, [&](const Computed *computed) {
               return is_contained(computed->candidates, origin);
             });
    });
    if (mentioned.size() != calls.size() ||
        !all_of(calls, [&](const Computed *computed) {
          return getStem(computed->call) == getStem(calls.front()->call);
        }))
      continue;
    sort(calls, [](const Computed *a, const Computed *b) {
      return getNumber(a->call) < getNumber(b->call);
    });
    for (auto [computed, origin] : zip(calls, mentioned)) {
      computed->origin = origin;
      if (auto term = findTerm(source, splitName(origin->name).second,
                               getStem(computed->call)))
        computed->setTerms({*term});
    }
  }
  // Two that differ can not be one parameter, but for one whose elements are
  // known.
  std::set<const Origin *> unclear;
  for (const Computed &computed : list)
    for (const Computed &other : list)
      if (&computed != &other && computed.origin &&
          computed.origin == other.origin && !computed.isPresent &&
          !graph.findTensor(computed.origin->name) && !computed.isAlike(other))
        unclear.insert(computed.origin);
  for (Computed &computed : list)
    if (unclear.count(computed.origin)) {
      computed.origin = nullptr;
      if (!computed.terms.empty())
        computed.folded = std::nullopt;
      computed.terms.clear();
      computed.isRecorded = computed.isSliced = computed.addsNumber = false;
    }
  for (Computed &computed : list) {
    if (computed.origin)
      computed.candidates = {computed.origin};
    else
      erase_if(computed.candidates, [&](const Origin *origin) {
        return any_of(list, [&](const Computed &other) {
          return other.origin == origin && !other.isAlike(computed);
        });
      });
  }
  for (const Computed &computed : list)
    if (computed.candidates.empty() &&
        graph.provenance.hasSources(computed.stored->name()))
      doubtful.push_back("'" + computed.call + "'");
  erase_if(list, [](const Computed &computed) {
    return computed.candidates.empty();
  });
}

/// A tensor is of its only candidate if all others that could be are alike.
void ComputedFinder::findOriginsByElements() {
  for (Computed &computed : list) {
    if (computed.origin || computed.candidates.size() != 1 ||
        graph.isUsed(computed.candidates.front()->name))
      continue;
    const Origin *only = computed.candidates.front();
    if (all_of(list, [&](const Computed &other) {
          return &other == &computed || !other.dependsOn(only) ||
                 other.isAlike(computed);
        }))
      computed.origin = only;
  }
}

ComputedTensors ComputedFinder::run() {
  readPresent();
  collect();
  findOriginsBySource();
  findOriginsByElements();
  collectEqual();
  return {std::move(list), std::move(doubtful), std::move(equal)};
}

ComputedTensors findComputedTensors(const FxGraph &graph, TensorReader &reader,
                                    const StringSet<> &transposed) {
  return ComputedFinder(graph, reader, transposed).run();
}

} // namespace dtc::frontend
