//===- Parameters.cpp - which tensors of a model are trained --------------===//
//
// Follows gradients back from the outputs, takes apart what exporters merged,
// and ties what they split.
//
//===----------------------------------------------------------------------===//

#include "Parameters.h"
#include "Fingerprint.h"
#include "NameList.h"
#include "ParameterInputs.h"
#include "ParameterNames.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace llvm;

namespace dtc::frontend {

namespace {
/// Fewer elements than this are equal by accident.
constexpr int64_t minTiedElements = 1024;

/// A tensor that is to be trained, before tying.
struct Candidate {
  std::string name;   ///< of the parameter
  std::string source; ///< of the initializer or graph input
  TensorData data;
  Fingerprint print;
};

class ParameterFinder {
public:
  ParameterFinder(const Model &model, const OperatorTable &operators,
                  const StringMap<TensorData> &initializers,
                  const ImportOptions &options, std::vector<std::string> &notes)
      : model(model), operators(operators), initializers(initializers),
        options(options), notes(notes) {}

  Parameters run(const StringMap<Shape> &inputShapes);

private:
  void followGradients();
  bool passesGradient(const onnx::NodeProto &node, int operand) const;
  void addInitializers();
  void addInputs(const StringMap<Shape> &inputShapes);
  void addCandidate(StringRef name, StringRef source, const TensorData &data,
                    const Fingerprint &print);
  void tie(Parameters &result);

  const Model &model;
  const OperatorTable &operators;
  const StringMap<TensorData> &initializers;
  const ImportOptions &options;
  std::vector<std::string> &notes;

  /// Values from which a gradient reaches a float output.
  StringSet<> reached;
  std::vector<Candidate> candidates;
};

bool ParameterFinder::passesGradient(const onnx::NodeProto &node,
                                     int operand) const {
  // Conversions to integers end a gradient.
  if (node.op_type() == "Cast")
    for (const auto &attribute : node.attribute())
      if (attribute.name() == "to") {
        std::optional<DType> dtype = toDType(attribute.i());
        return !dtype || isFloat(*dtype);
      }
  const Operator *op = operators.find(node.op_type());
  return !op || !is_contained(op->noGradient, operand);
}

void ParameterFinder::followGradients() {
  for (const auto &output : model.graph().output()) {
    int type = output.type().tensor_type().elem_type();
    std::optional<DType> dtype = toDType(type);
    if (!dtype || isFloat(*dtype))
      reached.insert(output.name());
  }
  // Nodes are sorted, so one pass from the end sees all users of a value
  // before its producer.
  for (const auto &node : reverse(model.graph().node())) {
    if (none_of(node.output(), [&](const std::string &output) {
          return reached.contains(output);
        }))
      continue;
    for (auto [i, input] : enumerate(node.input()))
      if (!input.empty() && passesGradient(node, i))
        reached.insert(input);
  }
}

void ParameterFinder::addCandidate(StringRef name, StringRef source,
                                   const TensorData &data,
                                   const Fingerprint &print) {
  candidates.push_back({name.str(), source.str(), data, print});
}

void ParameterFinder::addInitializers() {
  // Exporters store tensors of equal elements, such as zero biases, once and
  // give the others' names to Identity nodes. Equality of such elements is no
  // evidence of tying: each is a parameter of its own.
  StringMap<SmallVector<StringRef>> copies;
  StringSet<> usedDirectly;
  for (const auto &node : model.graph().node()) {
    bool isCopy = node.op_type() == "Identity" && node.input_size() == 1 &&
                  node.output_size() == 1 && reached.contains(node.output(0));
    for (const std::string &input : node.input()) {
      if (isCopy)
        copies[input].push_back(node.output(0));
      else
        usedDirectly.insert(input);
    }
  }

  std::vector<std::string> shared;
  size_t sharers = 0;
  for (const auto &initializer : model.graph().initializer()) {
    StringRef name = initializer.name();
    auto it = initializers.find(name);
    if (it == initializers.end() || !reached.contains(name))
      continue;
    const TensorData &data = it->second;
    if (!isFloat(data.dtype) || data.shape.empty())
      continue;
    Fingerprint print;
    if (data.hasData)
      print = fingerprint(data);
    if (print.huge) {
      notes.push_back("initializer '" + name.str() +
                      "' holds values of 1e9 and more: taken as a mask, not "
                      "trained");
      continue;
    }
    auto copy = copies.find(name);
    bool isShared = copy != copies.end() && print.uniform;
    if (!isShared || usedDirectly.contains(name))
      addCandidate(name, name, data, print);
    if (!isShared)
      continue;
    for (StringRef separate : copy->second)
      addCandidate(separate, name, data, print);
    shared.push_back(name.str());
    sharers += copy->second.size() + usedDirectly.contains(name);
  }
  if (!shared.empty())
    notes.push_back(
        std::to_string(sharers) + " tensors with all elements equal shared " +
        std::to_string(shared.size()) +
        (shared.size() == 1 ? " initializer (" : " initializers (") +
        listFirstNames(shared) + "): each is trained apart");
}

void ParameterFinder::addInputs(const StringMap<Shape> &inputShapes) {
  for (const auto &input : model.graph().input()) {
    StringRef name = input.name();
    auto shape = inputShapes.find(name);
    if (shape == inputShapes.end() || !isParameterInput(model, input, options))
      continue;
    TensorData data;
    data.dtype = *toDType(input.type().tensor_type().elem_type());
    data.shape = shape->second;
    data.hasData = false;
    addCandidate(name, name, data, {});
  }
}

void ParameterFinder::tie(Parameters &result) {
  // Buckets of tensors that may be equal, in order of the candidates.
  std::map<std::pair<DType, uint64_t>, SmallVector<unsigned>> buckets;
  SmallVector<SmallVector<ParameterUse>> groups;
  SmallVector<bool> grouped(candidates.size(), false);
  if (!options.untie)
    for (auto [i, candidate] : enumerate(candidates))
      if (candidate.data.hasData && !candidate.print.uniform &&
          candidate.data.shape.size() >= 2 &&
          numElements(candidate.data.shape) >= minTiedElements)
        buckets[{candidate.data.dtype, candidate.print.hash}].push_back(i);

  for (unsigned i = 0; i < candidates.size(); ++i) {
    if (grouped[i])
      continue;
    SmallVector<ParameterUse> group{{i}};
    auto bucket =
        buckets.find({candidates[i].data.dtype, candidates[i].print.hash});
    if (bucket != buckets.end() && is_contained(bucket->second, i))
      for (unsigned other : bucket->second) {
        if (other <= i || grouped[other])
          continue;
        Match match =
            compareElements(candidates[i].data, candidates[other].data);
        if (match == Match::None)
          continue;
        grouped[other] = true;
        group.push_back({other, match == Match::Transposed});
      }
    // The name that a person gave leads.
    auto *leader = find_if(group, [&](const ParameterUse &member) {
      return !isGeneratedName(candidates[member.index].name);
    });
    if (leader == group.end())
      leader = group.begin();
    bool flip = leader->transposed;
    std::swap(*group.begin(), *leader);
    for (ParameterUse &member : group)
      member.transposed ^= flip;
    groups.push_back(group);
  }

  ParameterNamer namer(model);
  std::vector<std::string> renamed;
  for (ArrayRef<ParameterUse> group : groups) {
    const Candidate &leader = candidates[group.front().index];
    Parameter parameter;
    parameter.name = namer.choose(leader.name);
    if (parameter.name != leader.name)
      renamed.push_back(leader.name + "' is '" + parameter.name);
    parameter.dtype = leader.data.dtype == DType::F64 ? ParameterType::F64
                                                      : ParameterType::F32;
    parameter.shape = leader.data.shape;
    parameter.hasData = leader.data.hasData;
    parameter.bytes = leader.data.bytes;
    parameter.file = leader.data.file;
    parameter.offset = leader.data.offset;
    unsigned index = result.table.parameters.size();
    for (const ParameterUse &member : group) {
      const Candidate &tensor = candidates[member.index];
      parameter.sources.push_back({tensor.source, member.transposed});
      result.uses[tensor.name] = {index, member.transposed};
      if (&tensor != &leader)
        notes.push_back("tied '" + tensor.name + "' to '" + parameter.name +
                        "': equal" +
                        (member.transposed ? " up to transpose" : "") +
                        "; --untie keeps them apart");
    }
    result.table.parameters.push_back(std::move(parameter));
  }
  if (!renamed.empty())
    notes.push_back(std::to_string(renamed.size()) +
                    (renamed.size() == 1
                         ? " parameter is named after its module: "
                         : " parameters are named after their modules: ") +
                    listFirstNames(renamed));
}

Parameters ParameterFinder::run(const StringMap<Shape> &inputShapes) {
  followGradients();
  addInitializers();
  addInputs(inputShapes);
  Parameters result;
  tie(result);
  return result;
}
} // namespace

Parameters findParameters(const Model &model, const OperatorTable &operators,
                          const StringMap<Shape> &inputShapes,
                          const StringMap<TensorData> &initializers,
                          const ImportOptions &options,
                          std::vector<std::string> &notes) {
  return ParameterFinder(model, operators, initializers, options, notes)
      .run(inputShapes);
}

} // namespace dtc::frontend
