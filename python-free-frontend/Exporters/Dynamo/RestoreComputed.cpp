//===- RestoreComputed.cpp - parameters that were computed with -----------===//
//
// See RestoreComputed.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/RestoreComputed.h"
#include "Exporters/Dynamo/CallKinds.h"
#include "Exporters/Dynamo/ComputedTensors.h"
#include "Support/Fingerprint.h"
#include "Support/NameList.h"
#include "Support/TensorData.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dtc::frontend {

namespace {
class ComputedRestorer {
public:
  ComputedRestorer(FxGraph &graph, TensorReader &reader,
                   RestoredTensors &result)
      : graph(graph), result(result),
        computed(findComputedTensors(graph, reader, result.transposed)) {}

  void run();

private:
  void warn(ArrayRef<std::string> list, StringRef what);
  void trainInPlace(const Computed &tensor);
  bool onlyMoves(const Computed &tensor) const;
  std::string applyTerms(const Computed &tensor, int index, std::string value);
  void restoreTerms(const Computed &tensor);
  void restoreFolded(const Computed &tensor);
  void use(const Computed &tensor, std::pair<int, int> place,
           StringRef parameter, const Shape &shape);

  FxGraph &graph;
  RestoredTensors &result;
  ComputedTensors computed;
  /// What was done, for messages.
  std::vector<std::string> undone, moved, likelyMoved, perhapsMoved, added,
      replaced;
};

/// "'exp' of 'scale'".
std::string describe(const Computed &tensor) {
  std::vector<std::string> names;
  names.reserve(tensor.candidates.size());
  for (const Origin *candidate : tensor.candidates)
    names.push_back(candidate->name);
  return "'" + tensor.call + (tensor.origin ? "' of " : "', perhaps of ") +
         listFirstNames(names);
}

static std::string joinFirst(ArrayRef<std::string> list) {
  constexpr size_t limit = 3;
  std::string text = join(list.take_front(limit), "; ");
  if (list.size() > limit)
    text += "; and " + std::to_string(list.size() - limit) + " more";
  return text;
}

void ComputedRestorer::warn(ArrayRef<std::string> list, StringRef what) {
  if (list.empty())
    return;
  result.warnings.push_back("the exporter computed with parameters (" +
                            joinFirst(list) + "): " + what.str() +
                            "export with optimize=False");
}

void ComputedRestorer::trainInPlace(const Computed &tensor) {
  replaced.push_back(describe(tensor));
  std::string own = tensor.call;
  if (tensor.stored->name() != own) {
    own = graph.makeName(own);
    graph.addTensor(*tensor.stored, own, dimsOf(*tensor.stored));
    for (auto [index, operand] : tensor.uses)
      graph.node(index).set_input(operand, own);
  }
  result.computed.insert(own);
}

/// Adds what the exporter computed of a value before a node.
std::string ComputedRestorer::applyTerms(const Computed &tensor, int index,
                                         std::string value) {
  for (const SourceTerm &term : tensor.terms) {
    SmallVector<std::string> operands = {value};
    if (term.hasConstant()) {
      operands.push_back(graph.makeName(tensor.call + "/constant"));
      float single = term.constant;
      StringRef bytes(reinterpret_cast<const char *>(&single), sizeof single);
      if (tensor.data.dtype == DType::F64)
        bytes = StringRef(reinterpret_cast<const char *>(&term.constant),
                          sizeof term.constant);
      graph.addTensor(tensor.stored->data_type(), bytes, operands.back(), {});
    }
    value = graph.applyBefore(index, term.getOperator(), operands);
  }
  return value;
}

/// The graph computes what the exporter did of a parameter that the file has.
void ComputedRestorer::restoreTerms(const Computed &tensor) {
  const std::string &parameter = tensor.origin->name;
  undone.push_back(parameter);
  for (auto [index, operand] : tensor.uses)
    graph.node(index).set_input(operand, applyTerms(tensor, index, parameter));
}

/// Whether the exporter says by which steps it computed a tensor of one
/// parameter, and all of them move elements, or compute what is looked up.
bool ComputedRestorer::onlyMoves(const Computed &tensor) const {
  StringRef name = tensor.stored->name();
  if (!graph.provenance.hasSources(name))
    return false;
  SmallVector<StringRef> steps = graph.provenance.findSteps(name);
  steps.push_back(tensor.call);
  auto has = [&](ArrayRef<StringRef> stems) {
    return any_of(steps, [&](StringRef step) {
      return is_contained(stems, getStem(step));
    });
  };
  bool isLookup = has({"embedding", "index", "index_select", "gather"});
  // Distances in buckets, as in T5.
  bool isBucket = isLookup && has({"where"}) && has({"minimum"});
  return isBucket || all_of(steps, [&](StringRef step) {
           StringRef stem = getStem(step);
           return stem == "val" || isMove(step) || isCreation(step) ||
                  (isLookup &&
                   is_contained({"embedding", "index", "index_select", "gather",
                                 "add", "sub", "rsub", "cumsum", "clamp", "eq",
                                 "ne"},
                                stem));
         });
}

/// Of equal elements, which are copies is not known.
static bool mayRepeat(const Computed &tensor) {
  return fingerprint(tensor.data).uniform &&
         is_contained({"expand", "repeat", "tile"}, getStem(tensor.call));
}

void ComputedRestorer::restoreFolded(const Computed &tensor) {
  const FoldedTensor &folded = *tensor.folded;
  const Computed *first = &*find_if(computed.list, [&](const Computed &other) {
    return &other == &tensor ||
           (tensor.origin && other.origin == tensor.origin && other.folded);
  });
  std::string parameter =
      tensor.origin ? tensor.origin->name : tensor.call + ".weight";
  // Rows in the order in which they occur are not the parameter: whoever loads
  // them should notice.
  if (tensor.origin && !tensor.isPresent && !first->folded->indices.empty())
    parameter += ".rows";
  bool isSure = !tensor.terms.empty() || tensor.isRecorded;
  if (tensor.addsNumber)
    added.push_back(describe(tensor));
  else if (tensor.isPresent || (isSure && !tensor.isSliced))
    undone.push_back(parameter);
  if (!tensor.isPresent && first == &tensor) {
    bool isNote = tensor.isSliced || (onlyMoves(tensor) && !mayRepeat(tensor));
    if (!isSure || tensor.isSliced)
      (!tensor.origin ? perhapsMoved
       : isNote       ? moved
                      : likelyMoved)
          .push_back(describe(tensor));
    if (!tensor.origin)
      parameter = graph.makeName(parameter);
    // The same elements stay where they are.
    if (tensor.terms.empty() && folded.bytes.size() == tensor.data.bytes.size())
      graph.addTensor(*tensor.stored, parameter, folded.shape);
    else
      graph.addTensor(tensor.stored->data_type(), folded.bytes, parameter,
                      folded.shape);
    if (folded.isTransposed)
      result.transposed.insert(parameter);
    result.computed.insert(parameter);
  }
  for (auto place : tensor.uses)
    use(tensor, place, parameter, first->folded->shape);
}

/// Makes an operand of a parameter what the exporter computed.
void ComputedRestorer::use(const Computed &tensor, std::pair<int, int> place,
                           StringRef parameter, const Shape &shape) {
  const FoldedTensor &folded = *tensor.folded;
  int index = place.first;
  std::string value = parameter.str();
  auto reshape = [&](const Shape &from, const Shape &to) {
    if (from != to)
      value =
          graph.applyBefore(index, "Reshape",
                            {value, graph.addIntegers(value + "/shape", to,
                                                      {int64_t(to.size())})});
  };
  reshape(shape, folded.shape);
  if (folded.isTransposed) {
    value = graph.applyBefore(index, "Transpose", {value});
  } else if (!folded.indices.empty()) {
    Shape places = folded.unrepeated;
    places.erase(places.begin() + folded.rowDim);
    value = graph.applyBefore(
        index, "Gather",
        {value, graph.addIntegers(value + "/rows", folded.indices, places)});
    if (folded.rowDim < places.size()) {
      value = graph.applyBefore(index, "Transpose", {value});
      onnx::AttributeProto &order = *graph.getLastBefore(index).add_attribute();
      order.set_name("perm");
      order.set_type(onnx::AttributeProto::INTS);
      for (unsigned dim = 0; dim < folded.unrepeated.size(); ++dim)
        order.add_ints(dim == folded.rowDim
                           ? places.size()
                           : dim - unsigned(dim > folded.rowDim));
    }
  } else {
    reshape(folded.shape, folded.unrepeated);
  }
  // What broadcasts needs no copies.
  StringRef op = graph.node(index).op_type();
  bool broadcasts = op == "Add" || op == "Mul" || op == "Sub" || op == "Div";
  if (!folded.isTransposed && folded.unrepeated != tensor.data.shape &&
      !broadcasts)
    value = graph.applyBefore(
        index, "Expand",
        {value, graph.addIntegers(value + "/shape", tensor.data.shape,
                                  {int64_t(tensor.data.shape.size())})});
  graph.node(index).set_input(place.second, applyTerms(tensor, index, value));
}

void ComputedRestorer::run() {
  for (const Computed &tensor : computed.list)
    if (tensor.folded)
      restoreFolded(tensor);
    else if (!tensor.terms.empty())
      restoreTerms(tensor);
    else if (tensor.origin || !tensor.data.shape.empty())
      trainInPlace(tensor);
    else
      computed.doubtful.push_back("'" + tensor.call + "'"); // or a scale
  for (const Computed &tensor : computed.list)
    for (const Origin *candidate : tensor.candidates)
      result.explained.insert(candidate->name);
  append_range(likelyMoved, computed.equal);
  warn(likelyMoved,
       "these are trained, as far as the model needs them, as if it had only "
       "moved them; to be sure ");
  for (const Computed &tensor : computed.list)
    if (tensor.origin)
      result.attributed.insert(tensor.call);
  // As the exporter says, such as positions that are looked up: no warning.
  if (!moved.empty())
    result.notes.push_back("the exporter moved elements of parameters (" +
                           joinFirst(moved) +
                           "): these are trained as far as the model needs "
                           "them; tools/export.py keeps them as they are");
  warn(perhapsMoved,
       "these are trained as if it had only moved one of them; if it computed "
       "more, that is not what PyTorch does; to be sure ");
  warn(added,
       "it added a number that the file does not have, and that is taken "
       "for 1: if it is another, saved weights differ by it; ");
  if (!computed.doubtful.empty())
    result.warnings.push_back(
        "the exporter computed " +
        join(ArrayRef(computed.doubtful).take_front(3), ", ") +
        ", perhaps of parameters, which are not trained through it, or of "
        "random numbers; in doubt export with optimize=False");
  warn(replaced, "the results are trained in their place, which is not what "
                 "PyTorch does; ");
  if (!undone.empty())
    result.details.push_back(
        std::to_string(undone.size()) +
        (undone.size() == 1 ? " parameter is" : " parameters are") +
        " computed with again, as the exporter did: " + listFirstNames(undone));
}
} // namespace

void restoreComputed(FxGraph &graph, TensorReader &reader,
                     RestoredTensors &result) {
  ComputedRestorer(graph, reader, result).run();
}

} // namespace dtc::frontend
