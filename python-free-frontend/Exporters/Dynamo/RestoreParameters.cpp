//===- RestoreParameters.cpp - the model's own tensors again --------------===//
//
// See RestoreParameters.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/RestoreParameters.h"
#include "Exporters/Dynamo/FxGraph.h"
#include "Exporters/Dynamo/FxRoles.h"
#include "Exporters/Dynamo/HideKeys.h"
#include "Exporters/Dynamo/RestoreClamps.h"
#include "Exporters/Dynamo/RestoreComputed.h"
#include "Exporters/Dynamo/RestoreRecurrent.h"
#include "Exporters/Dynamo/SeparateCalls.h"
#include "Exporters/Dynamo/StopGradients.h"
#include "Exporters/ModuleNames.h"
#include "File/Nodes.h"
#include "Support/NameList.h"
#include "Support/TensorData.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dtc::frontend {

namespace {
class OperandRestorer {
public:
  OperandRestorer(FxGraph &graph, RestoredTensors &result)
      : graph(graph), result(result) {}

  void restoreOperands();
  void nameTies();
  bool mayLackUses(ArrayRef<std::string> missing) const;
  /// Before nodes are inserted.
  void findMissing();
  void describe();

private:
  void restoreCall(ArrayRef<int> nodes);
  const Origin *chooseOrigin(int node, int operand) const;
  const Origin *findUnclaimed(const FxCall &call,
                              const StringSet<> &claimed) const;
  bool bind(int node, int operand, const Origin &origin);
  void restoreBias(ArrayRef<int> nodes, const Origin &bias);
  bool names(const FxCall &call, const Origin &tensor) const;
  bool isMadeByCall(int node, int operand) const;
  void separateConstant(int node, int operand);
  void findAliases();
  void findFoldedNorms();
  void findDropped();

  FxGraph &graph;
  RestoredTensors &result;
  std::vector<std::string> renamed, separated, biases;
  /// Parameters in whose place another is read now.
  std::vector<std::string> displaced;
};

/// What an operand is to the call that its node comes from.
const Origin *OperandRestorer::chooseOrigin(int index, int operand) const {
  std::optional<StringRef> value =
      findValue(*graph.origin(index).call, graph.node(index), operand);
  if (!value)
    return nullptr;
  if (const Origin *origin = graph.provenance.findArgument(*value))
    return origin;
  // A batch norm that is used again reads what its first use wrote.
  bool isMean = operand == 3, isStatistic = isMean || operand == 4;
  if (!isBatchNorm(*graph.origin(index).call) || !isStatistic)
    return nullptr;
  return graph.provenance.find((graph.origin(index).module() +
                                (isMean ? ".running_mean" : ".running_var"))
                                   .str());
}

/// Whether a call names a tensor of the state dict.
bool OperandRestorer::names(const FxCall &call, const Origin &tensor) const {
  return any_of(call.arguments, [&](const auto &argument) {
    return any_of(argument, [&](StringRef value) {
      return graph.provenance.findArgument(value) == &tensor;
    });
  });
}

/// The parameter among the arguments of a call that none of its operands is by
/// name, if there is one.
const Origin *OperandRestorer::findUnclaimed(const FxCall &call,
                                             const StringSet<> &claimed) const {
  const Origin *found = nullptr;
  for (const auto &argument : call.arguments)
    for (const std::string &value : argument)
      if (const Origin *origin = graph.provenance.findArgument(value);
          origin && origin->kind == Origin::Parameter &&
          !claimed.contains(origin->name)) {
        if (found && found != origin)
          return nullptr;
        found = origin;
      }
  return found;
}

/// Makes an operand the tensor of an origin.
bool OperandRestorer::bind(int index, int operand, const Origin &origin) {
  onnx::NodeProto &node = graph.node(index);
  const onnx::TensorProto &stored = *graph.findTensor(node.input(operand));
  SmallVector<int64_t> dims = dimsOf(stored);
  Holding holding =
      graph.provenance.find(stored.name())
          ? Holding::Same
          : findHolding(*graph.origin(index).call, node, operand, dims.size());
  SmallVector<int64_t> target = dims;
  if (holding == Holding::Transposed)
    std::reverse(target.begin(), target.end());
  else if (holding == Holding::Vector)
    target = {numElements(dims)};
  if (const onnx::TensorProto *own = graph.findTensor(origin.name)) {
    if (dimsOf(*own) != target)
      return false;
  } else {
    bool isOther = graph.provenance.find(stored.name()) != nullptr;
    (isOther ? separated : renamed)
        .push_back(stored.name() + "' is '" + origin.name);
    if (isOther)
      displaced.push_back(stored.name());
    graph.addTensor(stored, origin.name, target);
    if (holding == Holding::Transposed)
      result.transposed.insert(origin.name);
  }
  if (holding == Holding::Same) {
    node.set_input(operand, origin.name);
    return true;
  }
  std::string value =
      holding == Holding::Transposed
          ? graph.applyBefore(index, "Transpose", {origin.name})
          : graph.applyBefore(
                index, "Reshape",
                {origin.name, graph.addIntegers(origin.name + "/shape", dims,
                                                {int64_t(dims.size())})});
  node.set_input(operand, value);
  return true;
}

/// Adds a bias to a product or convolution that lost it.
void OperandRestorer::restoreBias(ArrayRef<int> nodes, const Origin &bias) {
  for (int index : nodes) {
    onnx::NodeProto &node = graph.node(index);
    StringRef op = node.op_type();
    const onnx::TensorProto *weight =
        node.input_size() == 2 ? graph.findTensor(node.input(1)) : nullptr;
    if (!isFloatTensor(weight) || weight->dims_size() < 2)
      continue;
    int64_t size;
    if (op == "Conv")
      size = weight->dims(0);
    else if (op == "ConvTranspose")
      size = weight->dims(1) * readInt(node, "group", 1);
    else if (op == "Gemm")
      size = weight->dims(readInt(node, "transB", 0) ? 0 : 1);
    else if (op == "MatMul" && weight->dims_size() == 2)
      size = weight->dims(1);
    else
      continue;
    if (size <= 0)
      return;
    if (const onnx::TensorProto *own = graph.findTensor(bias.name)) {
      if (dimsOf(*own) != ArrayRef<int64_t>{size})
        return;
    } else {
      int64_t width = weight->data_type() == onnx::TensorProto::DOUBLE ? 8 : 4;
      graph.addTensor(weight->data_type(), std::string(size * width, '\0'),
                      bias.name, {size});
    }
    biases.push_back(bias.name);
    if (op != "MatMul") {
      node.add_input(bias.name);
      return;
    }
    onnx::NodeProto &add = graph.addAfter(index);
    add.set_op_type("Add");
    add.set_name(node.name());
    add.add_output(node.output(0));
    node.set_output(0, graph.makeName(node.output(0) + "/product"));
    add.add_input(node.output(0));
    add.add_input(bias.name);
    return;
  }
}

/// An operand that merely equals a parameter is none.
void OperandRestorer::separateConstant(int index, int operand) {
  onnx::NodeProto &node = graph.node(index);
  const onnx::TensorProto &stored = *graph.findTensor(node.input(operand));
  std::string name = graph.makeName(node.output(0) + "/constant");
  if (graph.provenance.find(stored.name()))
    displaced.push_back(stored.name());
  graph.addTensor(stored, name, dimsOf(stored));
  node.set_input(operand, name);
}

/// Whether an argument is written out: "None", "2.0".
static bool isLiteral(StringRef text) {
  return text.find_first_of("%[") == StringRef::npos;
}

/// Whether a call has no tensor for an operand, such as a norm without weights,
/// or one that was made of ones, say: the exporter stored what it equals.
bool OperandRestorer::isMadeByCall(int index, int operand) const {
  constexpr StringLiteral makers[] = {
      "ones",      "ones_like", "new_ones",     "zeros",    "zeros_like",
      "new_zeros", "full",      "full_like",    "new_full", "arange",
      "eye",       "linspace",  "scalar_tensor"};
  const FxCall &call = *graph.origin(index).call;
  const onnx::NodeProto &node = graph.node(index);
  std::optional<unsigned> number = findArgument(call, node, operand);
  if (!number)
    return false;
  // Of a sum or product, which of the two it is may not be known.
  const Origin *own = graph.provenance.find(node.input(operand));
  if (node.input_size() == 2 &&
      findArgument(call, node, 1 - operand) == number && own &&
      names(call, *own))
    return false;
  if (*number >= call.texts.size() || isLiteral(call.texts[*number]))
    return true;
  std::optional<StringRef> value = findValue(call, node, operand);
  if (!value || !graph.isGone(*value))
    return false;
  StringRef stem = getStem(*value);
  stem.consume_back("_default");
  return is_contained(makers, stem);
}

/// Gives the operands of the nodes that one call became their tensors back.
void OperandRestorer::restoreCall(ArrayRef<int> nodes) {
  const FxCall &call = *graph.origin(nodes.front()).call;
  StringSet<> claimed;
  using Use = std::pair<int, int>;
  SmallVector<std::pair<Use, const Origin *>> chosen;
  SmallVector<Use> other, numbers;
  bool isAllKnown = true, hasTensors = false;
  for (const auto &argument : call.arguments)
    for (const std::string &value : argument) {
      const Origin *origin = graph.provenance.findArgument(value);
      hasTensors |= origin != nullptr;
      isAllKnown &= origin || graph.hasValue(value);
    }
  // What such a call reads besides is a number.
  bool isAllNumbers = isAllKnown && !hasTensors && !isBatchNorm(call);
  for (int index : nodes)
    for (auto [operand, input] : enumerate(graph.node(index).input())) {
      const onnx::TensorProto *tensor = graph.findTensor(input);
      if (!isFloatTensor(tensor))
        continue;
      const Origin *own = graph.provenance.find(input);
      if (findScale(call) && graph.provenance.hasSeveralSources(input)) {
        for (const Origin *source : graph.provenance.findSources(input))
          claimed.insert(source->name);
        continue;
      }
      const Origin *origin = chooseOrigin(index, operand);
      bool isParameters = own || !graph.provenance.findSources(input).empty();
      if (isParameters && (isMadeByCall(index, operand) || isAllNumbers)) {
        separateConstant(index, operand);
        continue;
      }
      // One operand of the sum is a bias, the other a computed product.
      if (origin && origin != own && graph.node(index).op_type() == "Add" &&
          findBiasArgument(call) && tensor->dims_size() > 1)
        continue;
      if (!origin && own && names(call, *own))
        origin = own;
      if (origin)
        claimed.insert(origin->name);
      if (origin && origin != own)
        chosen.push_back({{index, int(operand)}, origin});
      // What is recorded as computed may be more than moved.
      else if (!origin && !isBatchNorm(call) &&
               !findValue(call, graph.node(index), operand) &&
               !graph.provenance.hasSources(input)) {
        if (tensor->dims_size() > 0)
          other.push_back({index, int(operand)});
        else if (own && own->kind == Origin::Parameter)
          numbers.push_back({index, int(operand)});
      }
    }
  // Before weights are transposed: their shapes say how long a bias is.
  if (std::optional<unsigned> number = findBiasArgument(call);
      number && *number < call.arguments.size() &&
      call.arguments[*number].size() == 1)
    if (const Origin *bias =
            graph.provenance.findArgument(call.arguments[*number].front());
        bias && !claimed.contains(bias->name)) {
      restoreBias(nodes, *bias);
      claimed.insert(bias->name);
    }
  // The only operand that is no argument is the only one that is missing.
  SmallVector<Use> &candidates = other.empty() ? numbers : other;
  if (const Origin *origin = findUnclaimed(call, claimed);
      origin && candidates.size() == 1) {
    chosen.push_back({candidates.front(), origin});
    candidates.clear();
  }
  for (auto [index, operand] : concat<Use>(numbers, other))
    if (const Origin *own =
            graph.provenance.find(graph.node(index).input(operand));
        isAllKnown && own && own->kind == Origin::Parameter)
      separateConstant(index, operand);
  for (auto [use, origin] : chosen)
    if (!bind(use.first, use.second, *origin))
      result.warnings.push_back(
          "operand " + std::to_string(use.second) + " of node '" +
          graph.node(use.first).name() + "' should be '" + origin->name +
          "' by the exporter's metadata, which has another shape; check that "
          "the file was not edited");
}

/// torch.export calls a tied tensor by one of its names; the other is that of
/// the module which uses it: 'lm_head.weight' in module 'wte' is 'wte.weight'.
void OperandRestorer::findAliases() {
  auto tie = [&](StringRef name, StringRef alias) {
    if (graph.markUsed(alias))
      result.aliases[name].push_back(alias.str());
  };
  for (ArrayRef<std::string> names : graph.provenance.ties) {
    const std::string *present =
        find_if(names, [&](StringRef name) { return graph.findTensor(name); });
    if (present != names.end())
      for (const std::string &name : names)
        if (name != *present && !graph.findTensor(name))
          tie(*present, name);
  }
  for (int index = 0; index < graph.size(); ++index) {
    const NodeOrigin &origin = graph.origin(index);
    if (!origin.call || origin.modules.empty())
      continue;
    for (const auto &argument : origin.call->arguments)
      for (const std::string &value : argument) {
        const Origin *tensor = graph.provenance.findArgument(value);
        if (!tensor || tensor->kind != Origin::Parameter)
          continue;
        std::string alias =
            (origin.module() + "." + splitName(tensor->name).second).str();
        const Origin *other = graph.provenance.find(alias);
        if (other && other != tensor && other->kind == Origin::Parameter)
          tie(tensor->name, alias);
      }
  }
}

/// A tied tensor has the name that PyTorch's named_parameters() gives it: the
/// first of the state dict.
void OperandRestorer::nameTies() {
  StringMap<std::vector<std::string>> aliases = std::move(result.aliases);
  result.aliases.clear();
  for (auto &[name, others] : aliases) {
    std::vector<std::string> names{name.str()};
    append_range(names, others);
    // Null only for names that the record does not have.
    auto position = [&](StringRef wanted) {
      return graph.provenance.find(wanted);
    };
    sort(names, [&](const std::string &a, const std::string &b) {
      return position(a) < position(b);
    });
    std::string first = names.front();
    if (first != name) {
      graph.renameTensor(name, first);
      if (result.transposed.erase(name))
        result.transposed.insert(first);
    }
    names.erase(names.begin());
    result.aliases[first] = std::move(names);
  }
}

/// Batch norms that the exporter merged with the convolutions before them.
void OperandRestorer::findFoldedNorms() {
  std::vector<std::string> norms;
  for (int index = 0; index < graph.size(); ++index)
    if (const NodeOrigin &origin = graph.origin(index);
        origin.call && isBatchNorm(*origin.call) &&
        (StringRef(graph.node(index).op_type()).starts_with("Conv") ||
         graph.node(index).op_type() == "Gemm")) {
      norms.push_back(origin.module().str());
      for (const auto &argument : origin.call->arguments)
        for (const std::string &value : argument)
          if (const Origin *lost = graph.provenance.findArgument(value))
            result.explained.insert(lost->name);
    }
  if (!norms.empty())
    result.warnings.push_back(
        "the exporter merged batch norms with the layers before (" +
        listFirstNames(norms) +
        "): the model trains without them; export with model.train() and "
        "optimize=False");
}

/// What keeps a divisor or a logarithm from zero: the exporter takes numbers up
/// to 1e-8 for 0, and leaves their sums out.
void OperandRestorer::findDropped() {
  std::vector<std::string> nodes;
  for (int index = 0; index < graph.size(); ++index) {
    const onnx::NodeProto &node = graph.node(index);
    const auto &call = graph.origin(index).call;
    unsigned operand = node.op_type() == "Div";
    if (!call || operand >= call->arguments.size() ||
        call->arguments[operand].size() != 1 ||
        !is_contained({"Div", "Log", "Sqrt", "Reciprocal"}, node.op_type()))
      continue;
    StringRef value = call->arguments[operand].front();
    bool isSum = getStem(value) == "add" && graph.isGone(value);
    // The exporter leaves one of several equal sums.
    const std::string &input = node.input(operand);
    if (isSum && !graph.findTensor(input) && getStem(input) != "add")
      nodes.push_back(node.name());
  }
  if (!nodes.empty())
    result.warnings.push_back(
        "the exporter left out what was added before " + listFirstNames(nodes) +
        ", as it does for numbers up to 1e-8; if these keep a value from 0, "
        "losses become infinite or no numbers: export with optimize=False");
}

/// Whether a call only moves elements, or computes none of floats.
static bool keepsNumbers(StringRef call) {
  return is_contained({"alias",      "arange",     "clone",
                       "contiguous", "copy",       "detach",
                       "dropout",    "empty",      "eq",
                       "expand",     "flatten",    "full",
                       "ge",         "gt",         "le",
                       "lt",         "movedim",    "narrow",
                       "ne",         "new_ones",   "new_zeros",
                       "ones",       "permute",    "repeat",
                       "reshape",    "select",     "slice",
                       "split",      "squeeze",    "sym_size_int",
                       "t",          "to",         "transpose",
                       "unflatten",  "unsqueeze",  "view",
                       "zeros",      "_to_copy",   "lift_fresh_copy",
                       "new_empty",  "zeros_like", "ones_like",
                       "full_like"},
                      getStem(call));
}

/// Whether the exporter may have taken calls out of the file that used one of
/// these parameters, which it does not have. Otherwise the model does not use
/// them, or uses them by the other name of a tie.
bool OperandRestorer::mayLackUses(ArrayRef<std::string> missing) const {
  StringSet<> named;
  for (int index = 0; index < graph.size(); ++index)
    if (const auto &call = graph.origin(index).call)
      for (const auto &argument : call->arguments)
        named.insert(argument.begin(), argument.end());
  for (const std::string &name : missing)
    if (named.contains(graph.provenance.find(name)->argument))
      return true;
  return any_of(named, [&](const auto &entry) {
    StringRef call = entry.first();
    const onnx::TensorProto *tensor = graph.findTensor(call);
    return graph.isGone(call) && !result.attributed.contains(call) &&
           (tensor ? isFloatTensor(tensor) : !keepsNumbers(call));
  });
}

/// The other names of ties.
static StringSet<> findOthers(const RestoredTensors &tensors) {
  StringSet<> others;
  for (const auto &entry : tensors.aliases)
    others.insert(entry.second.begin(), entry.second.end());
  return others;
}

void OperandRestorer::findMissing() {
  StringSet<> others = findOthers(result);
  std::vector<std::string> missing;
  for (const Origin &origin : graph.provenance.origins())
    if (origin.kind == Origin::Parameter && !graph.findTensor(origin.name) &&
        !others.contains(origin.name) &&
        !result.explained.contains(origin.name))
      missing.push_back(origin.name);
  if (!missing.empty() && mayLackUses(missing))
    result.warnings.push_back(
        "not in the file and not trained: " + listFirstNames(missing) +
        (missing.size() > 3 ? " (" + std::to_string(missing.size()) + ")"
                            : "") +
        "; the model does not use them, or the exporter merged or computed "
        "what it does with them: in doubt export with optimize=False");
}

void OperandRestorer::describe() {
  StringSet<> others = findOthers(result);
  std::vector<std::string> unread;
  StringSet<> reads = graph.findReads();
  for (const std::string &name : displaced)
    if (graph.provenance.find(name)->kind == Origin::Parameter &&
        !others.contains(name) && reads.insert(name).second)
      unread.push_back(name);
  if (!unread.empty())
    result.warnings.push_back(
        "not used and not trained: " + listFirstNames(unread) +
        "; the exporter merged what it does with them with what it does with "
        "equal parameters or numbers: export with optimize=False");
  auto note = [&](ArrayRef<std::string> list, StringRef one, StringRef many) {
    if (!list.empty())
      result.details.push_back(std::to_string(list.size()) + " " +
                               (list.size() == 1 ? one : many).str() + ": " +
                               listFirstNames(list));
  };
  note(renamed, "parameter has its name back by the exporter's metadata",
       "parameters have their names back by the exporter's metadata");
  note(separated,
       "parameter that the exporter merged with an equal one is apart",
       "parameters that the exporter merged with equal ones are apart");
  note(biases, "bias of zeros that the exporter left out is back",
       "biases of zeros that the exporter left out are back");
}

void OperandRestorer::restoreOperands() {
  findAliases();
  for (auto &[name, nodes] : graph.findCalls())
    restoreCall(nodes);
  findFoldedNorms();
  findDropped();
}
} // namespace

RestoredTensors restoreParameters(onnx::GraphProto &proto,
                                  const Provenance &provenance,
                                  TensorReader &reader) {
  RestoredTensors result;
  for (const auto &[name, target] : provenance.renamedTensors())
    result.warnings.push_back(
        "'" + target +
        "' is an input and a tensor of the state dict, which is saved as '" +
        name + "'; rename one of them in the model");
  separateCalls(proto, provenance, result);
  FxGraph graph(proto, provenance);
  restoreRecurrent(graph, reader, result);
  OperandRestorer restorer(graph, result);
  restorer.restoreOperands();
  restoreComputed(graph, reader, result);
  stopGradients(graph, result);
  hideKeys(graph, reader);
  restoreClamps(graph);
  restorer.findMissing();
  graph.insertNodes();
  restorer.nameTies();
  restorer.describe();
  return result;
}

} // namespace dtc::frontend
