//===- RestoreParameters.cpp - the model's own tensors again --------------===//
//
// See RestoreParameters.h.
//
//===----------------------------------------------------------------------===//

#include "RestoreParameters.h"
#include "FoldedTensor.h"
#include "FxRoles.h"
#include "NameList.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace llvm;

namespace dtc::frontend {

namespace {
struct NodeOrigin {
  std::optional<FxCall> call;
  std::vector<std::string> modules;

  StringRef module() const {
    return modules.empty() ? StringRef() : StringRef(modules.back());
  }
};

/// A tensor that the exporter computed, perhaps of parameters.
struct Computed {
  const onnx::TensorProto *tensor;
  /// The call that computed it.
  std::string call;
  /// Nodes and their operands.
  SmallVector<std::pair<int, int>> uses;
  std::vector<const Origin *> candidates;
};

class Restorer {
public:
  Restorer(onnx::GraphProto &graph, const Provenance &provenance,
           TensorReader &reader)
      : graph(graph), provenance(provenance), reader(reader) {}

  RestoredTensors run();

private:
  void readNodes();
  void nameNode(onnx::NodeProto &node, const NodeOrigin &origin);
  void restoreCall(ArrayRef<int> nodes);
  const Origin *chooseOrigin(int node, int operand) const;
  const Origin *findUnclaimed(const FxCall &call,
                              const StringSet<> &claimed) const;
  std::string findComputed(int node, int operand) const;
  bool bind(int node, int operand, const Origin &origin);
  void restoreBias(ArrayRef<int> nodes, const Origin &bias);
  void findAliases();
  void nameTies();
  void restoreComputed();
  Error restore(const Computed &computed, const Origin *origin);
  void findFoldedNorms();
  void rebuild();
  void describe();

  const onnx::TensorProto *findTensor(StringRef name) const {
    auto it = tensors.find(name);
    return it == tensors.end() ? nullptr : it->second;
  }
  onnx::TensorProto &addTensor(const onnx::TensorProto &like, StringRef name,
                               ArrayRef<int64_t> dims);
  std::string makeName(const Twine &name);

  onnx::GraphProto &graph;
  const Provenance &provenance;
  TensorReader &reader;
  RestoredTensors result;

  StringMap<onnx::TensorProto *> tensors;
  std::vector<NodeOrigin> origins;
  /// All names of values.
  StringSet<> names;
  /// Tensors of the state dict that the file accounts for.
  StringSet<> used;
  /// Values that the graph has: inputs and results of calls.
  StringSet<> present;
  /// Missing parameters that warnings name.
  StringSet<> explained;
  /// Nodes to go before and after one of the graph.
  std::map<int, std::vector<onnx::NodeProto>> before, after;
  std::vector<std::string> renamed, separated, biases;
};

bool isFloatTensor(const onnx::TensorProto *tensor) {
  return tensor && (tensor->data_type() == onnx::TensorProto::FLOAT ||
                    tensor->data_type() == onnx::TensorProto::DOUBLE);
}

SmallVector<int64_t> dimsOf(const onnx::TensorProto &tensor) {
  return SmallVector<int64_t>(tensor.dims().begin(), tensor.dims().end());
}

int64_t count(ArrayRef<int64_t> dims) {
  int64_t product = 1;
  for (int64_t dim : dims)
    product *= dim;
  return product;
}

std::string Restorer::makeName(const Twine &name) {
  std::string unique = name.str();
  while (!names.insert(unique).second)
    unique += "_";
  return unique;
}

/// A tensor with the elements of `like`.
onnx::TensorProto &Restorer::addTensor(const onnx::TensorProto &like,
                                       StringRef name, ArrayRef<int64_t> dims) {
  onnx::TensorProto &tensor = *graph.add_initializer();
  tensor = like;
  tensor.set_name(name.str());
  tensor.mutable_dims()->Assign(dims.begin(), dims.end());
  tensors[name] = &tensor;
  names.insert(name);
  return tensor;
}

/// "/model/layers.0/self_attn/node_linear_1": modules are in names, as the
/// older exporter writes them.
void Restorer::nameNode(onnx::NodeProto &node, const NodeOrigin &origin) {
  std::string path;
  StringRef outer;
  for (StringRef module : origin.modules) {
    StringRef name = module;
    if (!outer.empty() && name.consume_front(outer))
      name.consume_front(".");
    if (!name.empty())
      path += "/" + name.str();
    outer = module;
  }
  if (!path.empty() && !node.name().empty())
    node.set_name(path + "/" + node.name());
}

void Restorer::readNodes() {
  for (onnx::TensorProto &tensor : *graph.mutable_initializer()) {
    tensors[tensor.name()] = &tensor;
    names.insert(tensor.name());
    if (provenance.find(tensor.name()))
      used.insert(tensor.name());
  }
  for (const auto &input : graph.input()) {
    names.insert(input.name());
    present.insert(input.name());
  }
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    for (const std::string &output : node.output())
      names.insert(output);
    NodeOrigin &origin = origins.emplace_back();
    origin.call = readFxCall(node);
    origin.modules = readModules(node);
    nameNode(node, origin);
    if (!origin.call)
      continue;
    present.insert(origin.call->result);
    for (const auto &argument : origin.call->arguments)
      for (const std::string &value : argument)
        if (const Origin *tensor = provenance.findArgument(value))
          used.insert(tensor->name);
  }
}

/// What an operand is to the call that its node comes from.
const Origin *Restorer::chooseOrigin(int index, int operand) const {
  const FxCall &call = *origins[index].call;
  std::optional<unsigned> number =
      findArgument(call, graph.node(index), operand);
  if (!number || *number >= call.arguments.size() ||
      call.arguments[*number].size() != 1)
    return nullptr;
  return provenance.findArgument(call.arguments[*number].front());
}

/// The parameter among the arguments of a call that none of its operands is by
/// name, if there is one.
const Origin *Restorer::findUnclaimed(const FxCall &call,
                                      const StringSet<> &claimed) const {
  const Origin *found = nullptr;
  for (const auto &argument : call.arguments)
    for (const std::string &value : argument)
      if (const Origin *origin = provenance.findArgument(value);
          origin && origin->kind == Origin::Parameter &&
          !claimed.contains(origin->name)) {
        if (found && found != origin)
          return nullptr;
        found = origin;
      }
  return found;
}

/// Makes an operand the tensor of an origin.
bool Restorer::bind(int index, int operand, const Origin &origin) {
  onnx::NodeProto &node = *graph.mutable_node(index);
  const onnx::TensorProto &stored = *findTensor(node.input(operand));
  SmallVector<int64_t> dims = dimsOf(stored);
  Holding holding =
      provenance.find(stored.name())
          ? Holding::Same
          : findHolding(*origins[index].call, node, operand, dims.size());
  SmallVector<int64_t> target = dims;
  if (holding == Holding::Transposed)
    std::reverse(target.begin(), target.end());
  else if (holding == Holding::Vector)
    target = {count(dims)};
  if (const onnx::TensorProto *own = findTensor(origin.name)) {
    if (dimsOf(*own) != target)
      return false;
  } else {
    (provenance.find(stored.name()) ? separated : renamed)
        .push_back(stored.name() + "' is '" + origin.name);
    addTensor(stored, origin.name, target);
    if (holding == Holding::Transposed)
      result.transposed.insert(origin.name);
  }
  if (holding == Holding::Same) {
    node.set_input(operand, origin.name);
    return true;
  }
  onnx::NodeProto &change = before[index].emplace_back();
  change.set_name(node.name());
  change.add_input(origin.name);
  change.add_output(makeName(origin.name + "/" + node.output(0)));
  if (holding == Holding::Transposed) {
    change.set_op_type("Transpose");
  } else {
    change.set_op_type("Reshape");
    onnx::TensorProto shape;
    shape.set_data_type(onnx::TensorProto::INT64);
    for (int64_t dim : dims)
      shape.add_int64_data(dim);
    std::string name = makeName(change.output(0) + "/shape");
    addTensor(shape, name, {int64_t(dims.size())});
    change.add_input(name);
  }
  node.set_input(operand, change.output(0));
  return true;
}

/// Adds a bias to a product or convolution that lost it.
void Restorer::restoreBias(ArrayRef<int> nodes, const Origin &bias) {
  for (int index : nodes) {
    onnx::NodeProto &node = *graph.mutable_node(index);
    StringRef op = node.op_type();
    const onnx::TensorProto *weight =
        node.input_size() == 2 ? findTensor(node.input(1)) : nullptr;
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
    if (const onnx::TensorProto *own = findTensor(bias.name)) {
      if (dimsOf(*own) != ArrayRef<int64_t>{size})
        return;
    } else {
      onnx::TensorProto zeros;
      zeros.set_data_type(weight->data_type());
      zeros.set_raw_data(std::string(
          size * (weight->data_type() == onnx::TensorProto::DOUBLE ? 8 : 4),
          '\0'));
      addTensor(zeros, bias.name, {size});
    }
    biases.push_back(bias.name);
    if (op != "MatMul") {
      node.add_input(bias.name);
      return;
    }
    onnx::NodeProto &add = after[index].emplace_back();
    add.set_op_type("Add");
    add.set_name(node.name());
    add.add_output(node.output(0));
    node.set_output(0, makeName(node.output(0) + "/product"));
    add.add_input(node.output(0));
    add.add_input(bias.name);
    return;
  }
}

/// Gives the operands of the nodes that one call became their tensors back.
void Restorer::restoreCall(ArrayRef<int> nodes) {
  const FxCall &call = *origins[nodes.front()].call;
  StringSet<> claimed;
  SmallVector<std::pair<int, int>> open;
  for (int index : nodes)
    for (auto [operand, input] : enumerate(graph.node(index).input())) {
      if (!isFloatTensor(findTensor(input)))
        continue;
      const Origin *own = provenance.find(input);
      bool isArgument =
          own && any_of(call.arguments, [&](const auto &argument) {
            return any_of(argument, [&](StringRef value) {
              const Origin *origin = provenance.findArgument(value);
              return origin && origin->name == own->name;
            });
          });
      if (isArgument)
        claimed.insert(own->name);
      else
        open.push_back({index, operand});
    }
  SmallVector<std::pair<std::pair<int, int>, const Origin *>> chosen;
  SmallVector<std::pair<int, int>> other;
  for (auto [index, operand] : open)
    if (const Origin *origin = chooseOrigin(index, operand)) {
      claimed.insert(origin->name);
      chosen.push_back({{index, operand}, origin});
    } else if (findTensor(graph.node(index).input(operand))->dims_size() > 0 &&
               !isBatchNorm(call)) {
      other.push_back({index, operand});
    }
  // Before weights are transposed: their shapes say how long a bias is.
  if (std::optional<unsigned> number = findBiasArgument(call);
      number && *number < call.arguments.size() &&
      call.arguments[*number].size() == 1)
    if (const Origin *bias =
            provenance.findArgument(call.arguments[*number].front());
        bias && !claimed.contains(bias->name)) {
      restoreBias(nodes, *bias);
      claimed.insert(bias->name);
    }
  // The only operand that is no argument is the only one that is missing.
  if (const Origin *origin = findUnclaimed(call, claimed);
      origin && other.size() == 1)
    chosen.push_back({other.front(), origin});
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
void Restorer::findAliases() {
  auto tie = [&](StringRef name, StringRef alias) {
    if (used.insert(alias).second)
      result.aliases[name].push_back(alias.str());
  };
  for (ArrayRef<std::string> names : provenance.ties()) {
    const std::string *present =
        find_if(names, [&](StringRef name) { return findTensor(name); });
    if (present != names.end())
      for (const std::string &name : names)
        if (name != *present && !findTensor(name))
          tie(*present, name);
  }
  for (const NodeOrigin &origin : origins) {
    if (!origin.call || origin.modules.empty())
      continue;
    for (const auto &argument : origin.call->arguments)
      for (const std::string &value : argument) {
        const Origin *tensor = provenance.findArgument(value);
        if (!tensor || tensor->kind != Origin::Parameter)
          continue;
        std::string alias =
            (origin.module() + "." + StringRef(tensor->name).rsplit('.').second)
                .str();
        const Origin *other = provenance.find(alias);
        if (other && other != tensor && other->kind == Origin::Parameter)
          tie(tensor->name, alias);
      }
  }
}

/// A tied tensor has the name that PyTorch's named_parameters() gives it: the
/// first of the state dict.
void Restorer::nameTies() {
  StringMap<std::vector<std::string>> aliases = std::move(result.aliases);
  result.aliases.clear();
  for (auto &[name, others] : aliases) {
    std::vector<std::string> names{name.str()};
    append_range(names, others);
    auto position = [&](StringRef wanted) {
      return find_if(provenance.origins(), [&](const Origin &origin) {
        return origin.name == wanted;
      });
    };
    sort(names, [&](const std::string &a, const std::string &b) {
      return position(a) < position(b);
    });
    std::string first = names.front();
    if (first != name) {
      for (onnx::TensorProto &tensor : *graph.mutable_initializer())
        if (tensor.name() == name)
          tensor.set_name(first);
      if (result.transposed.erase(name))
        result.transposed.insert(first);
      for (onnx::NodeProto &node : *graph.mutable_node())
        std::replace(node.mutable_input()->begin(), node.mutable_input()->end(),
                     name.str(), first);
    }
    names.erase(names.begin());
    result.aliases[first] = std::move(names);
  }
}

/// Whether one module is the other or around it.
bool isNested(StringRef a, StringRef b) {
  if (a.size() > b.size())
    std::swap(a, b);
  return a.empty() || a == b || (b.starts_with(a) && b[a.size()] == '.');
}

/// The call that is gone, and whose result an operand is: by its name, or the
/// only argument that no node computes, of a call that takes tensors alike.
std::string Restorer::findComputed(int index, int operand) const {
  const onnx::NodeProto &node = graph.node(index);
  const std::string &input = node.input(operand);
  const onnx::TensorProto *tensor = findTensor(input);
  if (!origins[index].call || !isFloatTensor(tensor) || provenance.find(input))
    return "";
  const FxCall &call = *origins[index].call;
  if (call.uses(input))
    return input;
  if (tensor->dims_size() == 0 || call.op == "scaled_dot_product_attention")
    return "";
  std::string gone;
  for (const auto &argument : call.arguments)
    for (const std::string &value : argument)
      if (!present.contains(value) && !provenance.findArgument(value)) {
        if (!gone.empty())
          return "";
        gone = value;
      }
  return gone;
}

/// "embedding" of "embedding_1".
StringRef getStem(StringRef call) {
  return call.rtrim("0123456789").rtrim('_');
}

/// Whether a call makes a tensor of numbers.
bool isCreation(StringRef call) {
  StringRef stem = getStem(call);
  for (StringRef name : {"scalar_tensor", "full", "arange", "zeros", "ones",
                         "new_", "empty", "tril", "triu", "lift_fresh"})
    if (stem.starts_with(name))
      return true;
  return false;
}

/// A call whose operands are all known is gone, and its result is an
/// initializer. If parameters of that module are gone too, it was computed of
/// these.
void Restorer::restoreComputed() {
  std::map<std::string, Computed> uses;
  for (int index = 0; index < graph.node_size(); ++index)
    for (auto [operand, input] : enumerate(graph.node(index).input())) {
      std::string call = findComputed(index, operand);
      if (call.empty() || isCreation(call))
        continue;
      Computed &computed = uses[call];
      computed.tensor = findTensor(input);
      computed.call = call;
      computed.uses.push_back({index, operand});
    }
  std::vector<Computed> list;
  for (auto &[name, computed] : uses) {
    for (const Origin &origin : provenance.origins()) {
      StringRef owner = StringRef(origin.name).rsplit('.').first;
      if (origin.kind == Origin::Parameter && !used.contains(origin.name) &&
          any_of(computed.uses, [&](const auto &place) {
            return isNested(origins[place.first].module(),
                            owner == origin.name ? "" : owner);
          }))
        computed.candidates.push_back(&origin);
    }
    if (!computed.candidates.empty())
      list.push_back(std::move(computed));
  }
  for (const Computed &computed : list) {
    const Origin *first = computed.candidates.front();
    bool isCertain = computed.candidates.size() == 1 &&
                     count_if(list, [&](const Computed &other) {
                       return is_contained(other.candidates, first);
                     }) == 1;
    if (Error error = restore(computed, isCertain ? first : nullptr))
      consumeError(std::move(error)); // reported when parameters are read
  }
}

Error Restorer::restore(const Computed &computed, const Origin *origin) {
  const onnx::TensorProto &stored = *computed.tensor;
  const std::string &name = computed.call;
  Expected<TensorData> data = reader.read(stored);
  if (!data)
    return data.takeError();
  std::optional<FoldedTensor> folded = unfold(*data, getStem(name));
  std::vector<std::string> candidates;
  for (const Origin *candidate : computed.candidates)
    candidates.push_back(candidate->name);
  for (const std::string &candidate : candidates)
    explained.insert(candidate);
  result.warnings.push_back(
      "the exporter computed '" + name + "' of " +
      (origin ? "parameter '" + origin->name + "'"
              : "parameters, perhaps " + listFirstNames(candidates)) +
      (folded ? ": what it needs of them is trained; for all of them "
              : ": it is trained in their place, which is not what PyTorch "
                "does; ") +
      "export with optimize=False");
  if (!folded) {
    std::string own = name;
    if (stored.name() != name) {
      own = makeName(name);
      addTensor(stored, own, dimsOf(stored));
      for (auto [index, operand] : computed.uses)
        graph.mutable_node(index)->set_input(operand, own);
    }
    result.computed.insert(own);
    return Error::success();
  }
  std::string parameter = origin ? origin->name : name;
  if (origin)
    used.insert(parameter);
  else
    parameter = makeName(name + ".weight");
  result.computed.insert(parameter);
  onnx::TensorProto table;
  table.set_data_type(stored.data_type());
  table.set_raw_data(folded->bytes);
  addTensor(table, parameter, folded->shape);
  if (folded->isTransposed)
    result.transposed.insert(parameter);
  for (const auto &use : computed.uses) {
    int index = use.first, operand = use.second;
    onnx::NodeProto &node = *graph.mutable_node(index);
    std::string value = parameter;
    auto apply = [&](StringRef op, StringRef suffix, ArrayRef<int64_t> numbers,
                     ArrayRef<int64_t> dims) {
      onnx::NodeProto &change = before[index].emplace_back();
      change.set_op_type(op.str());
      change.set_name(node.name());
      change.add_input(value);
      value = makeName(parameter + "/" + suffix);
      change.add_output(value);
      if (dims.empty())
        return;
      onnx::TensorProto tensor;
      tensor.set_data_type(onnx::TensorProto::INT64);
      for (int64_t number : numbers)
        tensor.add_int64_data(number);
      std::string constant = makeName(value + "/" + op.lower());
      addTensor(tensor, constant, dims);
      change.add_input(constant);
    };
    if (folded->isTransposed)
      apply("Transpose", "transposed", {}, {});
    else if (!folded->indices.empty())
      apply("Gather", "rows", folded->indices,
            ArrayRef(folded->unrepeated).drop_back());
    else if (folded->shape != folded->unrepeated)
      apply("Reshape", "shaped", folded->unrepeated,
            {int64_t(folded->unrepeated.size())});
    // What broadcasts needs no copies.
    bool broadcasts = node.op_type() == "Add" || node.op_type() == "Mul" ||
                      node.op_type() == "Sub" || node.op_type() == "Div";
    if (!folded->isTransposed && folded->unrepeated != data->shape &&
        !broadcasts)
      apply("Expand", "expanded", data->shape, {int64_t(data->shape.size())});
    node.set_input(operand, value);
  }
  return Error::success();
}

void Restorer::rebuild() {
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  auto append = [&](std::vector<onnx::NodeProto> &list) {
    for (onnx::NodeProto &node : list)
      nodes.Add()->Swap(&node);
  };
  StringSet<> needed;
  for (auto [index, node] : enumerate(*graph.mutable_node())) {
    append(before[index]);
    nodes.Add()->Swap(&node);
    append(after[index]);
  }
  graph.mutable_node()->Swap(&nodes);
  for (const auto &node : graph.node())
    needed.insert(node.input().begin(), node.input().end());
  for (const auto &output : graph.output())
    needed.insert(output.name());
  google::protobuf::RepeatedPtrField<onnx::TensorProto> kept;
  for (onnx::TensorProto &tensor : *graph.mutable_initializer())
    if (needed.contains(tensor.name()))
      kept.Add()->Swap(&tensor);
  graph.mutable_initializer()->Swap(&kept);
}

/// Batch norms that the exporter merged with the convolutions before them.
void Restorer::findFoldedNorms() {
  std::vector<std::string> norms;
  for (auto [index, origin] : enumerate(origins))
    if (origin.call && isBatchNorm(*origin.call) &&
        StringRef(graph.node(index).op_type()).starts_with("Conv"))
      norms.push_back(origin.module().str());
  if (!norms.empty())
    result.warnings.push_back(
        "the exporter merged batch norms with convolutions (" +
        listFirstNames(norms) +
        "): the model trains without them; export with model.train() and "
        "optimize=False");
}

void Restorer::describe() {
  std::vector<std::string> missing;
  for (const Origin &origin : provenance.origins())
    if (origin.kind == Origin::Parameter && !used.contains(origin.name) &&
        !explained.contains(origin.name))
      missing.push_back(origin.name);
  if (!missing.empty())
    result.warnings.push_back(
        "not in the file and not trained: " + listFirstNames(missing) +
        (missing.size() > 3 ? " (" + std::to_string(missing.size()) + ")"
                            : "") +
        "; the model does not use them, or the exporter computed what it does "
        "with them: in doubt export with optimize=False");
  auto note = [&](ArrayRef<std::string> list, StringRef one, StringRef many) {
    if (!list.empty())
      result.notes.push_back(std::to_string(list.size()) + " " +
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

RestoredTensors Restorer::run() {
  readNodes();
  findAliases();
  MapVector<StringRef, SmallVector<int>> calls;
  for (auto [index, origin] : enumerate(origins))
    if (origin.call)
      calls[origin.call->result].push_back(index);
  for (auto &[name, nodes] : calls)
    restoreCall(nodes);
  restoreComputed();
  findFoldedNorms();
  rebuild();
  nameTies();
  describe();
  return std::move(result);
}
} // namespace

RestoredTensors restoreParameters(onnx::GraphProto &graph,
                                  const Provenance &provenance,
                                  TensorReader &reader) {
  return Restorer(graph, provenance, reader).run();
}

} // namespace dtc::frontend
