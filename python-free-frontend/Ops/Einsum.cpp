//===- Einsum.cpp - import of Einsum --------------------------------------===//
//
// Multiplies operands two at a time: as a matrix product if a dimension of both
// is summed, else elementwise. Before that, it sums dimensions that only one
// operand has and that the result lacks.
//
//===----------------------------------------------------------------------===//

#include "Ops/MatMul.h"
#include "Ops/Operators.h"
#include "Ops/Take.h"
#include "Shapes/ShapeRules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
/// A letter of the equation. Labels from `firstOfEllipsis` on are dimensions of
/// an ellipsis, counted from its end.
using Label = int;
using Labels = SmallVector<Label>;
constexpr Label firstOfEllipsis = 256;

/// A tensor with a label for each dimension.
struct Term {
  Value value;
  Labels labels;

  bool has(Label label) const { return is_contained(labels, label); }
};

struct Equation {
  std::vector<Labels> operands;
  Labels result;
};

/// Parses the labels of an operand or of the result. -1 stands for an ellipsis
/// until its rank is known.
Expected<Labels> parseLabels(StringRef text) {
  Labels labels;
  while (!text.empty()) {
    if (text.consume_front("...")) {
      if (is_contained(labels, -1))
        return problem("equation has two ellipses in one operand");
      labels.push_back(-1);
    } else if (isAlpha(text.front())) {
      labels.push_back(text.front());
      text = text.drop_front();
    } else {
      return problem("equation has '" + text.take_front() +
                     "', expected letters, '...', ',' and '->'");
    }
  }
  return labels;
}

/// Replaces an ellipsis by `rank` labels.
void expandEllipsis(Labels &labels, int64_t rank) {
  auto *dots = find(labels, -1);
  if (dots == labels.end())
    return;
  Labels expanded(labels.begin(), dots);
  for (int64_t d = rank; d-- > 0;)
    expanded.push_back(firstOfEllipsis + d);
  expanded.append(dots + 1, labels.end());
  labels = expanded;
}

/// Derives the result of an equation without an arrow: the ellipsis, then all
/// letters that appear once, in alphabetical order.
Labels deriveResult(const Equation &equation, int64_t ellipsisRank) {
  Labels result;
  for (int64_t d = ellipsisRank; d-- > 0;)
    result.push_back(firstOfEllipsis + d);
  for (Label label = 'A'; label <= 'z'; ++label) {
    int64_t count = 0;
    for (const Labels &operand : equation.operands)
      count += llvm::count(operand, label);
    if (count == 1)
      result.push_back(label);
  }
  return result;
}

Expected<Equation> parseEquation(const Call &call) {
  std::string text;
  for (char c : call.getString("equation", ""))
    if (c != ' ')
      text += c;
  auto [left, right] = StringRef(text).split("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != call.operands.size())
    return problem("equation '" + text + "' has " + Twine(parts.size()) +
                   " operands, the node has " + Twine(call.operands.size()));
  Equation equation;
  int64_t ellipsisRank = 0;
  for (auto [i, part] : enumerate(parts)) {
    Expected<Labels> labels = parseLabels(part);
    if (!labels)
      return labels.takeError();
    int64_t named = llvm::count_if(*labels, [](Label l) { return l >= 0; });
    int64_t rest = call.rank(i) - named;
    if (is_contained(*labels, -1)) {
      expandEllipsis(*labels, rest);
      ellipsisRank = std::max(ellipsisRank, rest);
    }
    if (int64_t(labels->size()) != call.rank(i))
      return problem("equation '" + text + "' names " + Twine(named) +
                     " dimensions of operand " + Twine(i) + ", which is " +
                     toString(call.shape(i)));
    equation.operands.push_back(*labels);
  }
  if (StringRef(text).contains("->")) {
    Expected<Labels> labels = parseLabels(right);
    if (!labels)
      return labels.takeError();
    expandEllipsis(*labels, ellipsisRank);
    equation.result = *labels;
  } else {
    equation.result = deriveResult(equation, ellipsisRank);
  }
  return equation;
}

class EinsumBuilder {
public:
  EinsumBuilder(NodeBuilder &node, const Equation &equation)
      : node(node), equation(equation) {}

  Error run();

private:
  Error takeDiagonals(Term &term);
  Error addSizes();
  Error addTerms();
  void sumAlone(unsigned number);
  void order(Term &term, ArrayRef<Label> labels);
  Term multiply(Term a, Term b);

  bool isNeeded(Label label, ArrayRef<Term> others) const {
    return is_contained(equation.result, label) ||
           any_of(others, [&](const Term &term) { return term.has(label); });
  }
  int64_t sizeOf(ArrayRef<Label> labels) const {
    int64_t size = 1;
    for (Label label : labels)
      size *= sizes.lookup(label);
    return size;
  }
  Shape shapeOf(ArrayRef<Label> labels) const {
    Shape shape;
    for (Label label : labels)
      shape.push_back(sizes.lookup(label));
    return shape;
  }

  NodeBuilder &node;
  const Equation &equation;
  DenseMap<Label, int64_t> sizes;
  SmallVector<Term> terms;
};
} // namespace

Error EinsumBuilder::addSizes() {
  for (const Term &term : terms)
    for (auto [label, size] : zip(term.labels, node.shapeOf(term.value))) {
      int64_t &known = sizes.try_emplace(label, size).first->second;
      if (known == 1)
        known = size;
      if (size != 1 && size != known)
        return problem("has one letter for dimensions of " + Twine(known) +
                       " and " + Twine(size));
    }
  for (Label label : equation.result)
    if (!sizes.contains(label))
      return problem("result has a letter that no operand has");
  return Error::success();
}

/// Two dimensions that have the same letter.
static std::optional<std::pair<int64_t, int64_t>>
findRepeated(ArrayRef<Label> labels) {
  for (int64_t second : seq<int64_t>(0, labels.size()))
    for (int64_t first : seq<int64_t>(0, second))
      if (labels[first] == labels[second])
        return std::pair(first, second);
  return std::nullopt;
}

/// Reduces dimensions with the same letter to their diagonal.
Error EinsumBuilder::takeDiagonals(Term &term) {
  while (auto repeated = findRepeated(term.labels)) {
    auto [first, second] = *repeated;
    Shape shape(node.shapeOf(term.value)), order;
    int64_t size = shape[first];
    if (size != shape[second])
      return problem("has one letter for dimensions of " + Twine(size) +
                     " and " + Twine(shape[second]));
    for (int64_t dim : seq<int64_t>(0, shape.size()))
      if (dim != first && dim != second)
        order.push_back(dim);
    Shape taken;
    Labels labels;
    for (int64_t dim : order) {
      taken.push_back(shape[dim]);
      labels.push_back(term.labels[dim]);
    }
    order.append({first, second});
    taken.push_back(size * size);
    labels.push_back(term.labels[first]);
    Shape indices;
    for (int64_t index : seq<int64_t>(0, size))
      indices.push_back(index * (size + 1));
    Value flat = node.reshape(node.transpose(term.value, order), taken);
    term = {take(node, flat, taken.size() - 1, indices), labels};
  }
  return Error::success();
}

/// Drops dimensions of size 1 that other operands repeat, since products
/// broadcast.
Error EinsumBuilder::addTerms() {
  for (auto [i, labels] : enumerate(equation.operands)) {
    terms.push_back({node.operand(i), labels});
    if (Error error = takeDiagonals(terms.back()))
      return error;
  }
  if (Error error = addSizes())
    return error;
  for (Term &term : terms) {
    Labels labels;
    Shape shape;
    for (auto [label, size] : zip(term.labels, node.shapeOf(term.value)))
      if (size == sizes.lookup(label)) {
        labels.push_back(label);
        shape.push_back(size);
      }
    term = {node.reshape(term.value, shape), labels};
  }
  return Error::success();
}

/// Sums the dimensions of a term that no other term or the result has.
void EinsumBuilder::sumAlone(unsigned number) {
  Term &term = terms[number];
  SmallVector<Term> others(terms);
  others.erase(others.begin() + number);
  Shape axes;
  Labels kept;
  for (auto [d, label] : enumerate(term.labels)) {
    if (isNeeded(label, others))
      kept.push_back(label);
    else
      axes.push_back(d);
  }
  term.value =
      node.reshape(node.reduce<ReduceSumOp>(term.value, axes), shapeOf(kept));
  term.labels = kept;
}

/// Permutes the dimensions of a term.
void EinsumBuilder::order(Term &term, ArrayRef<Label> labels) {
  Shape permutation;
  for (Label label : labels)
    permutation.push_back(find(term.labels, label) - term.labels.begin());
  term.value = node.transpose(term.value, permutation);
  term.labels.assign(labels.begin(), labels.end());
}

Term EinsumBuilder::multiply(Term a, Term b) {
  Labels shared, summed, left, right;
  for (Label label : a.labels) {
    if (!b.has(label))
      left.push_back(label);
    else if (isNeeded(label, terms))
      shared.push_back(label);
    else
      summed.push_back(label);
  }
  for (Label label : b.labels)
    if (!a.has(label))
      right.push_back(label);

  Labels labels = shared;
  labels.append(left);
  Labels aLabels = labels, bLabels = shared;
  labels.append(right);
  Shape aShape = shapeOf(shared), bShape = aShape;
  if (summed.empty()) {
    bLabels.append(right);
    order(a, aLabels);
    order(b, bLabels);
    aShape = shapeOf(aLabels);
    aShape.append(right.size(), 1);
    bShape.append(left.size(), 1);
    bShape.append(shapeOf(right));
    return {
        node.mul(node.reshape(a.value, aShape), node.reshape(b.value, bShape)),
        labels};
  }
  aLabels.append(summed);
  bLabels.append(summed);
  bLabels.append(right);
  order(a, aLabels);
  order(b, bLabels);
  aShape.append({sizeOf(left), sizeOf(summed)});
  bShape.append({sizeOf(summed), sizeOf(right)});
  Value result = buildProduct(node, node.reshape(a.value, aShape), false,
                              node.reshape(b.value, bShape), false);
  return {node.reshape(result, shapeOf(labels)), labels};
}

Error EinsumBuilder::run() {
  if (Error error = addTerms())
    return error;
  for (unsigned i = 0; i < terms.size(); ++i)
    sumAlone(i);
  while (terms.size() > 1) {
    Term a = terms[0], b = terms[1];
    terms.erase(terms.begin(), terms.begin() + 2);
    terms.insert(terms.begin(), multiply(a, b));
    if (terms.size() > 1)
      sumAlone(0);
  }
  order(terms[0], equation.result);
  node.setResult(0, terms[0].value);
  return Error::success();
}

static Error importEinsum(NodeBuilder &node) {
  if (Error error = node.requireFloat(0))
    return error;
  if (Error error = node.requireSameTypes())
    return error;
  Expected<Equation> equation = parseEquation(node.call);
  if (!equation)
    return equation.takeError();
  return EinsumBuilder(node, *equation).run();
}

void addEinsumOperators(OperatorTable &table) {
  table.add({{"Einsum", 12, 1, any, "equation", importEinsum}});
}

} // namespace dtc::frontend
