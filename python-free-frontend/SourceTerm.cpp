//===- SourceTerm.cpp - what a line of a model computes -------------------===//
//
// See SourceTerm.h.
//
//===----------------------------------------------------------------------===//

#include "SourceTerm.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
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

double SourceTerm::undo(double value) const {
  return kind == Exp ? std::log(value) : value - constant;
}

std::optional<SourceTerm> findTerm(StringRef line, StringRef attribute,
                                   StringRef op) {
  // Of the module or of one in it; a conversion changes no value.
  std::string operand = "self\\.([A-Za-z0-9_]+\\.)*" +
                        Regex::escape(attribute) +
                        "(\\.(float|double|to|type_as)\\([A-Za-z0-9_.]*\\))?";
  if (op == "exp" && Regex("(^|[^A-Za-z0-9_.])(torch\\.exp\\( *" + operand +
                           " *\\)|" + operand + "\\.exp\\(\\))")
                         .match(line))
    return SourceTerm{SourceTerm::Exp};
  if (op != "add")
    return std::nullopt;
  std::string open = "[(=,] *", plus = " *\\+ *", close = " *($|[),])";
  SmallVector<StringRef> parts;
  double constant;
  auto isNumber = [&](StringRef number) {
    return !number.getAsDouble(constant);
  };
  if ((Regex(open + "([0-9.]+)" + plus + operand + close).match(line, &parts) &&
       isNumber(parts[1])) ||
      (Regex(open + operand + plus + "([0-9.]+)" + close).match(line, &parts) &&
       isNumber(parts[4])))
    return SourceTerm{SourceTerm::AddConstant, constant};
  return std::nullopt;
}

} // namespace dtc::frontend
