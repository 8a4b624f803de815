//===- Parameters.cpp - trained tensors of a model ------------------------===//
//
// Follows gradients back from the outputs, judges each tensor that they reach,
// ties tensors, and makes a parameter of each group.
//
//===----------------------------------------------------------------------===//

#include "Parameters/Parameters.h"
#include "Exporters/FoldedWeights.h"
#include "Exporters/GeneratedNames.h"
#include "File/InlineNodes.h"
#include "Parameters/ParameterInputs.h"
#include "Parameters/ParameterNames.h"
#include "Parameters/ParameterRules.h"
#include "Parameters/TieParameters.h"
#include "Support/Fingerprint.h"
#include "Support/NameList.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace llvm;

namespace dtc::frontend {

namespace {
class ParameterFinder {
public:
  ParameterFinder(const Model &model, const OperatorTable &operators,
                  const StringMap<TensorData> &initializers,
                  const ImportOptions &options, ImportReport &report)
      : model(model), operators(operators), initializers(initializers),
        options(options), report(report), roles(model.graph()), namer(model) {}

  Parameters run(const StringMap<Shape> &inputShapes);

private:
  void followGradients();
  bool passesGradient(const onnx::NodeProto &node, int operand) const;
  void addInitializers();
  void addInputs(const StringMap<Shape> &inputShapes);
  void judgeTensor(StringRef name, StringRef source, const TensorData &data,
                   const Fingerprint &print);
  void judgeInitializer(StringRef name, const TensorData &data);
  void addCandidate(StringRef name, StringRef source, const TensorData &data,
                    const Fingerprint &print);
  void describe();
  void describeDoubt();
  void describeShared(const MapVector<StringRef, size_t> &counts);
  Parameters makeParameters();

  const Model &model;
  const OperatorTable &operators;
  const StringMap<TensorData> &initializers;
  const ImportOptions &options;
  ImportReport &report;
  TensorRoles roles;
  ParameterNamer namer;

  /// Values from which a gradient reaches a float output.
  StringSet<> reached;
  /// Names of copies of merged tensors, by the name of the stored tensor.
  StringMap<SmallVector<StringRef>> copies;
  StringSet<> usedDirectly;
  StringMap<std::string> constantCopies;
  std::vector<std::string> doubtful, computed;
  std::vector<Candidate> candidates;
};

bool ParameterFinder::passesGradient(const onnx::NodeProto &node,
                                     int operand) const {
  // No gradient passes a conversion to integers.
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
  // Nodes are sorted. So a backward pass sees all users of a value before its
  // producer.
  for (const auto &node : reverse(model.graph().node())) {
    if (none_of(node.output(), [&](const std::string &output) {
          return reached.contains(output);
        }))
      continue;
    for (auto [i, input] : enumerate(node.input()))
      if (!input.empty() && passesGradient(node, i))
        reached.insert(input);
    forEachCapture(
        node, [&](const std::string &captured) { reached.insert(captured); });
  }
}

void ParameterFinder::addCandidate(StringRef name, StringRef source,
                                   const TensorData &data,
                                   const Fingerprint &print) {
  candidates.push_back({name.str(), source.str(), data, print, roles.find(name),
                        namer.findModule(name),
                        namer.choose(name, data.shape.size())});
  // PyTorch stores the scales of channels as vectors.
  Candidate &candidate = candidates.back();
  candidate.parameter.isVector |=
      candidate.role.isNorm && isGeneratedName(name) && data.shape.size() > 1;
}

void ParameterFinder::judgeTensor(StringRef name, StringRef source,
                                  const TensorData &data,
                                  const Fingerprint &print) {
  // Ignore the uses of equal tensors that the exporter merged with this one.
  TensorRole role =
      usedDirectly.contains(name) ? roles.findDirect(name) : roles.find(name);
  if (isKeptInitializer(name, options)) {
    addCandidate(name, source, data, print);
    candidates.back().isTrained = false;
    return;
  }
  Verdict verdict = judge(model, name, data, print, role);
  bool isWanted = isParameterInitializer(name, options) ||
                  isParameterInitializer(source, options);
  if (verdict.isComputed && !isWanted)
    computed.push_back(name.str());
  if (verdict.isDoubtful && verdict.isParameter && !isWanted)
    doubtful.push_back(name.str());
  if (!verdict.isParameter && !isWanted) {
    report.constants.push_back(
        {name.str(), toString(data.shape), verdict.reason.str()});
    if (name != source)
      constantCopies[name] = source.str();
    return;
  }
  addCandidate(name, source, data, print);
  candidates.back().isTrained = verdict.isTrained;
}

void ParameterFinder::judgeInitializer(StringRef name, const TensorData &data) {
  Fingerprint print;
  if (data.hasData && !model.record.isKnown())
    print = fingerprint(data);
  ArrayRef<StringRef> others;
  if (auto copy = copies.find(name); copy != copies.end())
    others = copy->second;
  bool isShared = others.size() + usedDirectly.contains(name) > 1;
  if (!isShared || usedDirectly.contains(name))
    judgeTensor(name, name, data, print);
  if (isShared)
    for (StringRef separate : others)
      judgeTensor(separate, name, data, print);
}

void ParameterFinder::addInitializers() {
  // Exporters store equal tensors, such as zero biases, once. Identity nodes
  // give them their other names. Equality does not mean that they are tied. If
  // there is a record, the other Identity nodes are calls, such as `clone`.
  for (const auto &node : model.graph().node()) {
    bool isCopy =
        isCopyOfEqual(node) && reached.contains(node.output(0)) &&
        (!model.record.isKnown() || model.record.find(node.output(0)));
    for (const std::string &input : node.input()) {
      if (isCopy)
        copies[input].push_back(node.output(0));
      else
        usedDirectly.insert(input);
    }
    forEachCapture(node, [&](const std::string &captured) {
      usedDirectly.insert(captured);
    });
  }
  for (const auto &initializer : model.graph().initializer()) {
    StringRef name = initializer.name();
    auto it = initializers.find(name);
    bool isUsed = reached.contains(name) || isKeptInitializer(name, options);
    if (it != initializers.end() && isUsed && isFloat(it->second.dtype))
      judgeInitializer(name, it->second);
  }
}

/// Formats names: "'a', 'b' and 3 more".
static std::string list(ArrayRef<std::string> names) {
  constexpr size_t most = 8;
  std::string text;
  for (const std::string &name : names.take_front(most))
    text += (text.empty() ? "'" : ", '") + name + "'";
  if (names.size() > most)
    text += " and " + std::to_string(names.size() - most) + " more";
  return text;
}

/// Reports doubtful parameters, and facts that the exporter never records.
void ParameterFinder::describeDoubt() {
  if (model.record.isKnown() && !model.record.hasTraining &&
      !options.isFreezeChosen)
    report.notes.push_back(
        "the file does not say which parameters are frozen "
        "(requires_grad=False), and not always where no_grad and detach() stop "
        "gradients, so dtc trains all parameters; tools/export.py records "
        "both, "
        "--freeze GLOB freezes parameters");
  if (model.unrecorded.empty()) {
    if (!doubtful.empty())
      report.warnings.push_back(
          "the file does not say whether these tensors are parameters, so dtc "
          "trains them: " +
          list(doubtful) +
          "; --parameter NAME confirms this, --freeze NAME keeps their values");
    return;
  }
  if (options.isFreezeChosen)
    return;
  if (doubtful.empty())
    report.notes.push_back(model.unrecorded.str() +
                           ", so dtc trains all weights; tools/export.py "
                           "records this, --freeze GLOB freezes weights, "
                           "--padding-idx GLOB=N does not train row N");
  else
    report.warnings.push_back(
        model.unrecorded.str() + ", so dtc trains all weights, also " +
        list(doubtful) +
        ", which may be buffers; --parameter NAME confirms this, --freeze NAME "
        "keeps their values, --padding-idx GLOB=N does not train row N, "
        "tools/export.py records all");
}

/// Whether a person need not check why a tensor is constant.
static bool isCertain(StringRef reason) {
  return is_contained(
      {"buffer", "constant of the model", "computed by the exporter"}, reason);
}

void ParameterFinder::describe() {
  describeDoubt();
  if (!computed.empty())
    report.warnings.push_back(
        "the exporter folded these tensors into constants, so dtc does not "
        "train them: " +
        listFirstNames(computed) +
        "; if one of them contains a parameter (for example position "
        "embeddings), export again with do_constant_folding=False");
  if (!report.constants.empty()) {
    std::map<std::string, std::vector<std::string>> byReason;
    for (const ImportReport::Constant &constant : report.constants)
      byReason[constant.reason].push_back(constant.name);
    byReason.erase("scalar"); // not worth a line
    for (const auto &[reason, names] : byReason) {
      bool isOne = names.size() == 1;
      std::string text = "dtc does not train " + std::to_string(names.size()) +
                         (isOne ? " tensor (" : " tensors (") + reason +
                         "): " + listFirstNames(names);
      if (isCertain(reason))
        report.details.push_back(text);
      else
        report.notes.push_back(text + "; --parameter NAME trains " +
                               (isOne ? "it" : "them"));
    }
  }
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

/// Reports initializers that hold several parameters. `ofSource`: number of
/// parameters of each initializer.
void ParameterFinder::describeShared(
    const MapVector<StringRef, size_t> &counts) {
  std::vector<std::string> shared;
  size_t sharers = 0;
  for (auto [source, count] : counts)
    if (count > 1) {
      shared.push_back(source.str());
      sharers += count;
    }
  if (!shared.empty())
    report.details.push_back(
        std::to_string(sharers) + " equal tensors shared " +
        std::to_string(shared.size()) +
        (shared.size() == 1 ? " initializer (" : " initializers (") +
        listFirstNames(shared) + "); dtc trains each tensor separately");
}

/// Makes one parameter of each group of tied tensors.
Parameters ParameterFinder::makeParameters() {
  Parameters result;
  result.constantCopies = std::move(constantCopies);
  std::vector<std::string> renamed, perhapsComputed;
  StringSet<> computedWeights = findFoldedWeights(model);
  MapVector<StringRef, size_t> ofSource;
  for (ArrayRef<ParameterUse> group :
       tieParameters(candidates, !model.record.isKnown(), options, report)) {
    const Candidate &leader = candidates[group.front().index];
    const ParameterName &name = leader.parameter;
    Parameter parameter;
    parameter.name = name.text;
    // A tensor that equals another one is at most its transpose.
    bool isDoubtful =
        computedWeights.contains(leader.name) ||
        (!model.record.isKnown() && isPerhapsMasked(leader.name, leader.data));
    if (group.size() == 1 && isDoubtful &&
        !isParameterInitializer(leader.name, options))
      perhapsComputed.push_back(leader.name);
    if (name.text != leader.name)
      renamed.push_back(leader.name + "' is '" + name.text);
    parameter.dtype = leader.data.dtype == DType::F64 ? ParameterType::F64
                                                      : ParameterType::F32;
    parameter.shape = leader.data.shape;
    if (name.transposed)
      std::reverse(parameter.shape.begin(), parameter.shape.end());
    if (name.isVector)
      parameter.shape = {numElements(leader.data.shape)};
    parameter.isTrained = leader.isTrained;
    parameter.hasData = leader.data.hasData;
    parameter.bytes = leader.data.bytes;
    parameter.transposed = leader.data.transposed ^ name.transposed;
    parameter.file = leader.data.file;
    parameter.offset = leader.data.offset;
    auto aliases = model.restored.aliases.find(leader.name);
    if (aliases != model.restored.aliases.end())
      parameter.aliases = aliases->second;
    unsigned index = result.table.parameters.size();
    StringSet<> sources;
    for (const ParameterUse &member : group) {
      const Candidate &tensor = candidates[member.index];
      if (sources.insert(tensor.source).second)
        ++ofSource[tensor.source];
      bool transposed = member.transposed ^ name.transposed;
      parameter.sources.push_back({tensor.source, transposed});
      result.uses[tensor.name] = {index, transposed, tensor.data.shape};
      if (&tensor == &leader)
        continue;
      report.notes.push_back("tied '" + tensor.name + "' to '" +
                             parameter.name + "', because they are equal" +
                             (transposed ? " up to transpose" : "") +
                             "; --untie keeps them separate");
      // Another call of the same module gives its parameter no new name.
      const ParameterName &own = tensor.parameter;
      bool isAgain =
          !leader.module.empty() && isSameModule(tensor.module, leader.module);
      if (!isGeneratedName(own.text) && own.transposed == transposed &&
          !isAgain)
        parameter.aliases.push_back(own.text);
    }
    result.table.parameters.push_back(std::move(parameter));
  }
  describeShared(ofSource);
  if (!perhapsComputed.empty())
    report.warnings.push_back(
        "the exporter may have computed these parameters: " +
        listFirstNames(perhapsComputed) +
        "; unless they are weights or transposed weights, export again with "
        "do_constant_folding=False; --parameter NAME says that they are");
  if (!renamed.empty())
    report.details.push_back(
        std::to_string(renamed.size()) +
        (renamed.size() == 1 ? " parameter is named after its module: "
                             : " parameters are named after their modules: ") +
        listFirstNames(renamed));
  return result;
}

Parameters ParameterFinder::run(const StringMap<Shape> &inputShapes) {
  followGradients();
  addInitializers();
  addInputs(inputShapes);
  describe();
  return makeParameters();
}
} // namespace

Parameters findParameters(const Model &model, const OperatorTable &operators,
                          const StringMap<Shape> &inputShapes,
                          const StringMap<TensorData> &initializers,
                          const ImportOptions &options, ImportReport &report) {
  return ParameterFinder(model, operators, initializers, options, report)
      .run(inputShapes);
}

} // namespace dtc::frontend
