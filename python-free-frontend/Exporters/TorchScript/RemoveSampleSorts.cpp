//===- RemoveSampleSorts.cpp - sorted samples of packed sequences ---------===//
//
// See RemoveSampleSorts.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/TorchScript/RemoveSampleSorts.h"
#include "Exporters/GraphEditor.h"
#include "File/Nodes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

namespace {
/// An operand of a node.
struct Use {
  int node, operand;
};

/// A TopK node that sorts samples.
class Sort {
public:
  Sort(GraphEditor &graph, TensorReader &reader,
       const StringMap<SmallVector<Use>> &uses, const StringSet<> &outputs,
       int topK)
      : graph(graph), reader(reader), uses(uses), outputs(outputs), topK(topK) {
  }

  /// Whether the model restores the order of all sorted samples, and uses the
  /// sort for nothing else.
  bool isUndone();
  void drop();

private:
  bool findGathers();
  void addInverse(const std::string &value);
  bool follow(const std::string &value, int64_t axis);
  bool followLayer(const onnx::NodeProto &node, int operand, int64_t axis);
  bool followTaken(const onnx::NodeProto &node, int index, int64_t axis);
  bool reach(const std::string &value, int64_t axis);
  bool isSorted(const std::string &value, int64_t axis) const;
  bool isUniform(const std::string &value) const;
  bool isNumber(const std::string &value, int64_t number) const;
  bool isCountOf(const std::string &value, ArrayRef<std::string> vectors) const;
  const onnx::NodeProto *findNode(const std::string &result) const;
  const onnx::TensorProto *findConstant(const std::string &value) const;
  std::optional<SmallVector<int64_t>> readInts(const std::string &value) const;

  GraphEditor &graph;
  TensorReader &reader;
  const StringMap<SmallVector<Use>> &uses;
  const StringSet<> &outputs;
  int topK;
  StringSet<> inverses;      ///< indices that restore the order
  StringMap<int64_t> sorted; ///< sorted values, and their dimension of samples
  std::vector<std::string>
      next; ///< sorted values whose uses are not followed yet
  std::vector<int> sorts, undone; ///< Gather nodes
  std::vector<int> joins, layers; ///< nodes whose operands are all sorted
};
} // namespace

/// Name of an operand; empty if the node lacks it.
static const std::string &getInput(const onnx::NodeProto &node, int operand) {
  static const std::string none;
  return operand < node.input_size() ? node.input(operand) : none;
}

static bool isLayer(const onnx::NodeProto &node) {
  return node.op_type() == "LSTM" || node.op_type() == "GRU" ||
         node.op_type() == "RNN";
}

/// A constant: an initializer, or the tensor of a Constant node.
const onnx::TensorProto *Sort::findConstant(const std::string &value) const {
  const onnx::NodeProto *node = findNode(value);
  if (!node)
    return graph.findTensor(value);
  bool isConstant = node->op_type() == "Constant" &&
                    node->attribute_size() == 1 && node->attribute(0).has_t();
  return isConstant ? &node->attribute(0).t() : nullptr;
}

/// Reads a constant of integers.
std::optional<SmallVector<int64_t>>
Sort::readInts(const std::string &value) const {
  const onnx::TensorProto *tensor = findConstant(value);
  if (!tensor || tensor->data_type() != onnx::TensorProto::INT64)
    return std::nullopt;
  Expected<TensorData> data = reader.read(*tensor);
  if (!data) {
    consumeError(data.takeError()); // reported at the node that uses it
    return std::nullopt;
  }
  return llvm::to_vector(toHostTensor(*data).toInts());
}

bool Sort::isSorted(const std::string &value, int64_t axis) const {
  auto found = sorted.find(value);
  return found != sorted.end() && found->second == axis;
}

const onnx::NodeProto *Sort::findNode(const std::string &result) const {
  for (int i = 0; i < graph.size(); ++i)
    if (is_contained(graph.node(i).output(), result))
      return &graph.node(i);
  return nullptr;
}

/// Whether a value is a certain integer, of any type.
bool Sort::isNumber(const std::string &value, int64_t number) const {
  const onnx::NodeProto *node = findNode(value);
  if (node && node->op_type() == "Cast")
    return isNumber(getInput(*node, 0), number);
  auto known = readInts(value);
  return known && known->size() == 1 && known->front() == number;
}

/// Whether all elements of a value are equal.
bool Sort::isUniform(const std::string &value) const {
  const onnx::NodeProto *node = findNode(value);
  if (!node)
    return false;
  StringRef op = node->op_type();
  return op == "ConstantOfShape" ||
         ((op == "Slice" || op == "Cast" || op == "Identity" ||
           op == "Expand" || op == "Unsqueeze") &&
          isUniform(getInput(*node, 0)));
}

bool Sort::reach(const std::string &value, int64_t axis) {
  if (value.empty())
    return true;
  auto [it, isNew] = sorted.try_emplace(value, axis);
  if (isNew)
    next.push_back(value);
  return it->second == axis;
}

/// Adds a value that restores the order, and its casts.
void Sort::addInverse(const std::string &value) {
  inverses.insert(value);
  for (Use use : uses.lookup(value)) {
    const onnx::NodeProto &node = graph.node(use.node);
    if (node.op_type() == "Cast" || node.op_type() == "Identity")
      addInverse(node.output(0));
  }
}

/// Whether a value is the number of elements of one of `vectors`.
bool Sort::isCountOf(const std::string &value,
                     ArrayRef<std::string> vectors) const {
  const onnx::NodeProto *node = findNode(value);
  if (!node)
    return false;
  StringRef op = node->op_type();
  if (op == "Shape")
    return is_contained(vectors, getInput(*node, 0));
  return (op == "Gather" || op == "Unsqueeze" || op == "Reshape" ||
          op == "Cast") &&
         isCountOf(getInput(*node, 0), vectors);
}

/// Finds the Gather nodes that sort, and the inverse permutation.
bool Sort::findGathers() {
  std::vector<std::string> places = {graph.node(topK).output(1)};
  for (size_t i = 0; i < places.size(); ++i) {
    if (outputs.contains(places[i]))
      return false;
    for (Use use : uses.lookup(places[i])) {
      const onnx::NodeProto &node = graph.node(use.node);
      StringRef op = node.op_type();
      if (op == "Cast" || op == "Identity") {
        places.push_back(node.output(0));
      } else if (op == "Gather" && use.operand == 1) {
        sorts.push_back(use.node);
      } else if (op == "ScatterElements" && use.operand == 1 &&
                 readInt(node, "axis", 0) == 0 && node.attribute_size() <= 1) {
        // A valid node has as many updates as indices.
        const onnx::NodeProto *counts = findNode(getInput(node, 2));
        if (!counts || counts->op_type() != "Range" ||
            !isNumber(getInput(*counts, 0), 0) ||
            !isNumber(getInput(*counts, 2), 1))
          return false;
        addInverse(node.output(0));
      } else if (op == "TopK" && use.operand == 0 && node.output_size() > 1 &&
                 readInt(node, "largest", 1) == 0 &&
                 uses.lookup(node.output(0)).empty() &&
                 !outputs.contains(node.output(0)) &&
                 isCountOf(getInput(node, 1), places)) {
        // Sorting the permutation itself gives the inverse as its indices.
        addInverse(node.output(1));
      } else if (op != "Shape") {
        return false;
      }
    }
  }
  return !inverses.empty();
}

/// Samples are dimension 1 of a layer's operands and states, and dimension 2 of
/// its results. With `layout` they are dimension 0 of all.
bool Sort::followLayer(const onnx::NodeProto &node, int operand, int64_t axis) {
  bool isFirst = readInt(node, "layout", 0) == 1;
  if (operand == 4)
    return axis == 0;
  if ((operand != 0 && operand != 5 && operand != 6) ||
      axis != (isFirst ? 0 : 1))
    return false;
  for (int i = 0; i < node.output_size(); ++i)
    if (!reach(node.output(i), isFirst ? 0 : i == 0 ? 2 : 1))
      return false;
  return true;
}

/// Follows a Gather of sorted samples. It restores the order, or selects
/// elements of each sample.
bool Sort::followTaken(const onnx::NodeProto &node, int index, int64_t axis) {
  int64_t along = readInt(node, "axis", 0);
  if (inverses.contains(getInput(node, 1))) {
    undone.push_back(index);
    return along == axis;
  }
  const onnx::TensorProto *taken = findConstant(getInput(node, 1));
  return taken && along >= 0 && along != axis &&
         reach(node.output(0),
               along < axis ? axis + taken->dims_size() - 1 : axis);
}

bool Sort::follow(const std::string &value, int64_t axis) {
  if (outputs.contains(value))
    return false;
  for (Use use : uses.lookup(value)) {
    const onnx::NodeProto &node = graph.node(use.node);
    StringRef op = node.op_type();
    auto reachResult = [&](int64_t place) {
      return reach(node.output(0), place);
    };
    bool keepsApart = false;
    if (op == "Shape") {
      keepsApart = true;
    } else if (isLayer(node)) {
      layers.push_back(use.node);
      keepsApart = followLayer(node, use.operand, axis);
    } else if (use.operand == 0 && op == "Gather") {
      keepsApart = followTaken(node, use.node, axis);
    } else if (op == "Concat") {
      joins.push_back(use.node);
      int64_t along = readInt(node, "axis", -1);
      keepsApart = along >= 0 && along != axis && reachResult(axis);
    } else if (use.operand == 0 &&
               (op == "Cast" || op == "Identity" || op == "Dropout")) {
      keepsApart = reachResult(axis);
    } else if (op == "Transpose" && node.attribute_size() == 1) {
      const auto &order = node.attribute(0).ints();
      keepsApart = reachResult(find(order, axis) - order.begin());
    } else if (use.operand == 0 && op == "Slice") {
      auto axes = readInts(getInput(node, 3));
      keepsApart = axes && none_of(*axes, [&](int64_t other) {
                     return other < 0 || other == axis;
                   });
      keepsApart &= reachResult(axis);
    } else if (use.operand == 0 && op == "Reshape") {
      // The shape must keep all dimensions up to that of the samples.
      auto shape = readInts(getInput(node, 1));
      keepsApart = shape && int64_t(shape->size()) > axis &&
                   readInt(node, "allowzero", 0) == 0 &&
                   all_of(ArrayRef(*shape).take_front(axis + 1),
                          [](int64_t size) { return size == 0; }) &&
                   reachResult(axis);
    } else if (use.operand == 0 && (op == "Squeeze" || op == "Unsqueeze")) {
      auto axes = readInts(getInput(node, 1));
      if (!axes || any_of(*axes, [](int64_t each) { return each < 0; }))
        return false;
      sort(*axes);
      int64_t place = axis;
      for (int64_t each : *axes)
        if (op == "Squeeze" && each < axis)
          --place;
        else if (op == "Unsqueeze" && each <= place)
          ++place;
      keepsApart = (op == "Unsqueeze" || !is_contained(*axes, axis)) &&
                   reachResult(place);
    }
    if (!keepsApart)
      return false;
  }
  return true;
}

bool Sort::isUndone() {
  if (!findGathers())
    return false;
  sorted[graph.node(topK).output(0)] = 0; // the lengths
  next.push_back(graph.node(topK).output(0));
  for (int index : sorts) {
    const onnx::NodeProto &node = graph.node(index);
    int64_t axis = readInt(node, "axis", 0);
    if (axis < 0 || !reach(node.output(0), axis))
      return false;
  }
  while (!next.empty()) {
    std::string value = next.back();
    next.pop_back();
    if (!follow(value, sorted.lookup(value)))
      return false;
  }
  for (int index : joins) {
    const onnx::NodeProto &node = graph.node(index);
    int64_t axis = sorted.lookup(node.output(0));
    if (!all_of(node.input(),
                [&](const std::string &x) { return isSorted(x, axis); }))
      return false;
  }
  for (int index : layers) {
    const onnx::NodeProto &node = graph.node(index);
    int64_t axis = readInt(node, "layout", 0) == 1 ? 0 : 1;
    auto isWith = [&](int operand, int64_t place) {
      return getInput(node, operand).empty() ||
             isSorted(getInput(node, operand), place);
    };
    if (!isSorted(getInput(node, 0), axis) || !isWith(4, 0))
      return false;
    for (int state : {5, 6})
      if (!isWith(state, axis) && !isUniform(getInput(node, state)))
        return false;
  }
  return !undone.empty();
}

void Sort::drop() {
  auto pass = [](onnx::NodeProto &node) {
    std::string from = getInput(node, 0);
    node.clear_input();
    node.clear_attribute();
    node.set_op_type("Identity");
    node.add_input(from);
  };
  for (const std::vector<int> *gathers : {&sorts, &undone})
    for (int index : *gathers)
      pass(graph.node(index));
  onnx::NodeProto &node = graph.node(topK);
  std::string lengths = node.output(0);
  node.set_output(0, graph.makeName(lengths + "/sorted"));
  graph.addAfter(topK) = makeUnary("Identity", getInput(node, 0), lengths);
}

void removeSampleSorts(onnx::GraphProto &proto, TensorReader &reader) {
  GraphEditor graph(proto);
  StringMap<SmallVector<Use>> uses;
  StringSet<> outputs;
  for (const onnx::ValueInfoProto &output : proto.output())
    outputs.insert(output.name());
  for (int i = 0; i < graph.size(); ++i) {
    if (any_of(graph.node(i).attribute(), [](const auto &attribute) {
          return attribute.has_g() || attribute.graphs_size() > 0;
        }))
      return; // branches may read anything
    if (graph.node(i).output_size() == 0)
      return; // reported by the importer
    for (auto [operand, name] : enumerate(graph.node(i).input()))
      uses[name].push_back({i, int(operand)});
  }
  for (int i = 0; i < graph.size(); ++i)
    if (graph.node(i).op_type() == "TopK" && graph.node(i).input_size() > 0 &&
        graph.node(i).output_size() > 1)
      if (Sort sort(graph, reader, uses, outputs, i); sort.isUndone())
        sort.drop();
  graph.insertNodes();
}

} // namespace dtc::frontend
