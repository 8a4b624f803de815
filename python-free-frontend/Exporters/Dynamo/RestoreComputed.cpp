//===- RestoreComputed.cpp - parameters that were computed with -----------===//
//
// The exporter's optimizer computes calls whose operands are all known, and
// keeps their result as an initializer: of '1.0 + self.weight' the sum. Where
// ExplainComputed.cpp finds what was computed, the parameter is there again and
// the graph computes it; else the result is trained in its place.
//
//   Mul(%output, add_12)             %mul_5 = mul(%output, %add_12)
//
// becomes, by the line 'output * (1.0 + self.weight)',
//
//   %t = Add(norm.weight, 1.0); Mul(%output, %t)
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/CallTable.h"
#include "Exporters/Dynamo/ComputedTensor.h"
#include "Exporters/Dynamo/Rules.h"
#include "Support/NameList.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

namespace {
class ComputedRestorer {
public:
  ComputedRestorer(RecordedProgram &program, Findings &findings)
      : program(program), findings(findings),
        list(explainComputed(program, findings)) {}

  void run();

private:
  using Use = std::pair<int, int>;

  bool onlyMoves(const ComputedTensor &tensor) const;
  Finding classify(const ComputedTensor &tensor) const;
  void trainInPlace(const ComputedTensor &tensor);
  void restore(const ComputedTensor &tensor);
  void addParameter(const ComputedTensor &tensor, const std::string &name);
  std::string applyView(const ComputedTensor &tensor, int index,
                        std::string value, const Shape &shape);
  std::string applyTerms(const ComputedTensor &tensor, int index,
                         std::string value);

  RecordedProgram &program;
  Findings &findings;
  std::vector<ComputedTensor> list;
};

/// "'exp' of 'scale'".
std::string describe(const ComputedTensor &tensor) {
  std::vector<std::string> names;
  names.reserve(tensor.candidates.size());
  for (const Origin *candidate : tensor.candidates)
    names.push_back(candidate->name);
  return quote(tensor.call) + (tensor.origin ? " of " : ", perhaps of ") +
         listFirstNames(names);
}
} // namespace

void ComputedRestorer::trainInPlace(const ComputedTensor &tensor) {
  findings.add(Finding::TrainedInPlace, describe(tensor));
  std::string own = tensor.call;
  if (tensor.stored->name() != own) {
    own = program.makeName(own);
    program.addTensor(*tensor.stored, own, dimsOf(*tensor.stored));
    for (auto [index, operand] : tensor.uses)
      program.node(index).set_input(operand, own);
  }
  findings.tensors.computed.insert(own);
}

/// Whether the exporter says by which steps it computed a tensor of its
/// parameter, and all of them move elements, or compute what is looked up. Of
/// equal tensors, the steps are those of the one that the file has.
bool ComputedRestorer::onlyMoves(const ComputedTensor &tensor) const {
  const std::vector<std::string> *recorded =
      program.findSteps(tensor.stored->name());
  if (!recorded ||
      !(tensor.isNamed || is_contained(*recorded, tensor.origin->name)))
    return false;
  SmallVector<StringRef> steps;
  for (const std::string &step : *recorded)
    if (!program.record.find(step))
      steps.push_back(step);
  steps.push_back(tensor.call);
  auto has = [&](StringRef op) {
    return any_of(steps,
                  [&](StringRef step) { return dropNumber(step) == op; });
  };
  bool isLookup = any_of(
      steps, [](StringRef step) { return getKind(step) == CallKind::Lookup; });
  // Distances in buckets, as in T5.
  bool isBucket = isLookup && has("where") && has("minimum");
  return isBucket || all_of(steps, [&](StringRef step) {
           CallKind kind = getKind(step);
           bool isIndex = is_contained({CallKind::Lookup, CallKind::Compare,
                                        CallKind::Scale},
                                       kind) ||
                          is_contained({"cumsum", "clamp"}, dropNumber(step));
           return dropNumber(step) == "val" || isMove(step) ||
                  isCreation(step) || (isLookup && isIndex);
         });
}

/// Returns the kind of finding for a tensor whose parameter is restored.
Finding ComputedRestorer::classify(const ComputedTensor &tensor) const {
  bool isSure = !tensor.terms.empty() || tensor.isRecorded;
  if (tensor.isPresent || (isSure && !tensor.isSliced))
    return Finding::Recomputed;
  if (!tensor.origin)
    return Finding::PerhapsMoved;
  // Copies cannot be told from equal elements.
  bool mayRepeat =
      getKind(tensor.call) == CallKind::Repeat && isUniform(tensor.data);
  return tensor.isSliced || (onlyMoves(tensor) && !mayRepeat)
             ? Finding::Moved
             : Finding::LikelyMoved;
}

/// Adds what the exporter computed of a value before a node.
std::string ComputedRestorer::applyTerms(const ComputedTensor &tensor,
                                         int index, std::string value) {
  for (const Term &term : tensor.terms) {
    SmallVector<std::string> operands = {value};
    if (term.hasConstant())
      operands.push_back(program.addNumber(tensor.call + "/constant",
                                           *tensor.stored, term.constant));
    value = program.applyBefore(index, term.getOperator(), operands);
  }
  return value;
}

/// Adds moves of a parameter of this shape that give the elements of a tensor.
std::string ComputedRestorer::applyView(const ComputedTensor &tensor, int index,
                                        std::string value, const Shape &shape) {
  const ParameterView &view = *tensor.view;
  auto reshape = [&](const Shape &from, const Shape &to) {
    if (from != to)
      value = program.reshapeBefore(index, value, to);
  };
  reshape(shape, view.shape);
  if (view.isTransposed)
    return program.applyBefore(index, "Transpose", {value});
  if (view.indices.empty()) {
    reshape(view.shape, view.unrepeated);
  } else {
    Shape places = view.unrepeated;
    places.erase(places.begin() + view.rowDim);
    value = program.applyBefore(
        index, "Gather",
        {value, program.addIntegers(value + "/rows", view.indices, places)});
    if (view.rowDim < places.size()) {
      value = program.applyBefore(index, "Transpose", {value});
      onnx::AttributeProto &order =
          *program.getLastBefore(index).add_attribute();
      order.set_name("perm");
      order.set_type(onnx::AttributeProto::INTS);
      for (unsigned dim = 0; dim < view.unrepeated.size(); ++dim)
        order.add_ints(dim == view.rowDim ? places.size()
                                          : dim - unsigned(dim > view.rowDim));
    }
  }
  // Operators that broadcast need no copies.
  if (view.unrepeated != tensor.data.shape &&
      !is_contained({"Add", "Mul", "Sub", "Div"},
                    program.node(index).op_type()))
    value = program.applyBefore(
        index, "Expand",
        {value, program.addIntegers(value + "/shape", tensor.data.shape,
                                    {int64_t(tensor.data.shape.size())})});
  return value;
}

void ComputedRestorer::addParameter(const ComputedTensor &tensor,
                                    const std::string &name) {
  const ParameterView &view = *tensor.view;
  // The same elements stay where they are.
  if (tensor.terms.empty() && view.bytes.size() == tensor.data.bytes.size())
    program.addTensor(*tensor.stored, name, view.shape);
  else
    program.addTensor(tensor.stored->data_type(), view.bytes, name, view.shape);
  if (view.isTransposed)
    findings.tensors.transposed.insert(name);
  findings.tensors.computed.insert(name);
}

void ComputedRestorer::restore(const ComputedTensor &tensor) {
  // The first of those with the same parameter has its elements.
  const ComputedTensor &first =
      *find_if(list, [&](const ComputedTensor &other) {
        return &other == &tensor ||
               (tensor.origin && other.origin == tensor.origin && other.view);
      });
  std::string parameter =
      tensor.origin ? tensor.origin->name : tensor.call + ".weight";
  // Rows in the order in which they occur are not the parameter: whoever loads
  // them should notice.
  if (tensor.view && tensor.origin && !tensor.isPresent &&
      !first.view->indices.empty())
    parameter += ".rows";
  Finding finding = tensor.view ? classify(tensor) : Finding::Recomputed;
  bool isNew = tensor.view && !tensor.isPresent && &first == &tensor;
  if (finding == Finding::Recomputed)
    findings.add(finding, quote(parameter));
  else if (isNew)
    findings.add(finding, describe(tensor));
  if (isNew) {
    if (!tensor.origin)
      parameter = program.makeName(parameter);
    addParameter(tensor, parameter);
  }
  for (auto [index, operand] : tensor.uses) {
    std::string value = parameter;
    if (tensor.view)
      value = applyView(tensor, index, value, first.view->shape);
    program.node(index).set_input(operand, applyTerms(tensor, index, value));
  }
}

void ComputedRestorer::run() {
  for (const ComputedTensor &tensor : list) {
    if (tensor.view || !tensor.terms.empty())
      restore(tensor);
    else if (tensor.origin || !tensor.data.shape.empty())
      trainInPlace(tensor);
    else
      findings.add(Finding::Doubtful, quote(tensor.call)); // or a scale
    for (const Origin *candidate : tensor.candidates)
      findings.tensors.explained.insert(candidate->name);
    if (tensor.origin)
      findings.attributed.insert(tensor.call);
  }
}

/// Whether a call that is gone may have given the elements of a parameter, but
/// is not the parameter. `isNamed`: another call names it.
static bool mayEqual(const RecordedProgram &program, StringRef call,
                     const onnx::TensorProto &parameter, bool isNamed) {
  StringRef op = dropNumber(call);
  CallKind kind = getKind(call);
  // A moved tensor is the parameter itself, except for a transpose. The
  // exporter also copies constants that the source writes as tensors.
  if (kind == CallKind::Permute || kind == CallKind::Triangle ||
      (isNamed && (op == "clone" || op == "_to_copy")))
    return true;
  if (isMove(call) || isCreation(call) || isLayerOrDropout(call))
    return false;
  // Arithmetic with numbers gives elements back only if they are equal. The
  // exporter drops that which changes nothing.
  if (kind != CallKind::Scale)
    return true;
  std::optional<TensorData> data = program.readFloats(&parameter);
  return data && isUniform(*data);
}

/// Finds results of calls of which the file has only a parameter that is equal:
/// of p and 1 - p, of 1/2 both, p.
static void findEqualResults(const RecordedProgram &program,
                             Findings &findings) {
  StringSet<> found;
  for (int index = 0; index < program.size(); ++index)
    for (auto [operand, input] : enumerate(program.node(index).input())) {
      const Origin *own = program.record.find(input);
      const std::optional<RecordedCall> &call = program.origin(index).call;
      const onnx::TensorProto *tensor = program.findTensor(input);
      if (!own || own->kind != Origin::Parameter || !call ||
          call->names(own->argument) || !isFloatTensor(tensor))
        continue;
      std::optional<StringRef> value =
          findValue(*call, program.node(index), operand);
      if (value && program.isGone(*value) &&
          mayEqual(program, *value, *tensor,
                   program.getNamed().contains(own->argument)) &&
          found.insert(*value).second)
        findings.add(Finding::LikelyMoved, quote(*value, "of", own->name));
    }
}

void restoreComputed(RecordedProgram &program, Findings &findings) {
  findEqualResults(program, findings);
  ComputedRestorer(program, findings).run();
}

} // namespace dtc::frontend
