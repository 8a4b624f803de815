//===- Term.cpp - what a line of a model computes -------------------===//
//
// See Term.h.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/Term.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Regex.h"

#include <cmath>

using namespace llvm;

namespace dtc::frontend {

static std::vector<std::string> findMembersOf(StringRef object,
                                              StringRef line) {
  Regex attribute("(^|[^A-Za-z0-9_.])" + object.str() + "\\.([A-Za-z0-9_.]+)");
  std::vector<std::string> found;
  SmallVector<StringRef> parts;
  while (attribute.match(line, &parts)) {
    found.push_back(parts[2].str());
    line = line.drop_front(parts[2].end() - line.begin());
  }
  return found;
}

std::vector<std::string> findAttributes(StringRef line) {
  return findMembersOf("self", line);
}

std::vector<std::string> findMembers(StringRef line) {
  return findMembersOf("[A-Za-z_][A-Za-z0-9_]*", line);
}

StringRef Term::getOperator() const {
  constexpr StringLiteral names[] = {"Add", "Mul", "Exp", "Sigmoid", "Tanh"};
  return names[kind];
}

double Term::undo(double value) const {
  switch (kind) {
  case AddConstant:
    return value - constant;
  case Multiply:
    return value / constant;
  case Exp:
    return std::log(value);
  case Sigmoid:
    return std::log(value / (1 - value));
  case Tanh:
    return std::atanh(value);
  }
  llvm_unreachable("unknown kind");
}

std::optional<Term> findFunction(StringRef op) {
  return StringSwitch<std::optional<Term>>(op)
      .Case("exp", Term{Term::Exp})
      .Case("sigmoid", Term{Term::Sigmoid})
      .Case("tanh", Term{Term::Tanh})
      .Case("neg", Term{Term::Multiply, -1})
      .Default(std::nullopt);
}

std::optional<Term> findTerm(StringRef line, StringRef attribute,
                             StringRef op) {
  // An attribute of the module or of one in it. A conversion changes no value.
  std::string operand = "self\\.([A-Za-z0-9_]+\\.)*" +
                        Regex::escape(attribute) +
                        "(\\.(float|double|to|type_as)\\([A-Za-z0-9_.]*\\))?";
  if (op == "exp" && Regex("(^|[^A-Za-z0-9_.])(torch\\.exp\\( *" + operand +
                           " *\\)|" + operand + "\\.exp\\(\\))")
                         .match(line))
    return Term{Term::Exp};
  bool isSum = op == "add";
  if (!isSum && op != "mul")
    return std::nullopt;
  std::string open = "[(=,] *", sign = isSum ? " *\\+ *" : " *\\* *",
              close = " *($|[),])";
  SmallVector<StringRef> parts;
  double constant;
  auto isNumber = [&](StringRef number) {
    return !number.getAsDouble(constant) && (isSum || constant != 0);
  };
  if ((Regex(open + "([0-9.]+)" + sign + operand + close).match(line, &parts) &&
       isNumber(parts[1])) ||
      (Regex(open + operand + sign + "([0-9.]+)" + close).match(line, &parts) &&
       isNumber(parts[4])))
    return Term{isSum ? Term::AddConstant : Term::Multiply, constant};
  return std::nullopt;
}

} // namespace dtc::frontend
