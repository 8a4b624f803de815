//===- Phase.cpp - names of phases ----------------------------------------===//
//
// `#dtc.phase<weight>`, `#dtc.phase<weight 1 last>`.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Phase.h"
#include "dtc/Dialect/Dialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace dtc;

static constexpr llvm::StringLiteral kindNames[] = {
    "inputs", "prologue", "forward", "backward", "weight", "reduce", "update"};

static constexpr llvm::StringLiteral runsNames[] = {"all", "first", "last"};

/// The name of level or chunk 0 has no number.
std::string Phase::getName() const {
  std::string name = kindNames[kind].str();
  if (level != 0)
    name += std::to_string(level);
  if (runs != All)
    name += "." + runsNames[runs].str();
  return name;
}

void PhaseAttr::print(AsmPrinter &printer) const {
  const Phase &phase = getPhase();
  printer << "<" << kindNames[phase.kind];
  if (phase.level != 0)
    printer << " " << phase.level;
  if (phase.runs != Phase::All)
    printer << " " << runsNames[phase.runs];
  printer << ">";
}

Attribute PhaseAttr::parse(AsmParser &parser, Type) {
  StringRef name;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&name))
    return {};
  const auto *kind = llvm::find(kindNames, name);
  if (kind == std::end(kindNames)) {
    parser.emitError(place) << "found phase '" << name << "', expected one of "
                            << llvm::interleaved(kindNames);
    return {};
  }
  Phase phase{static_cast<Phase::Kind>(kind - kindNames)};
  if (OptionalParseResult level = parser.parseOptionalInteger(phase.level);
      level.has_value() && failed(*level))
    return {};
  if (succeeded(parser.parseOptionalKeyword(runsNames[Phase::First])))
    phase.runs = Phase::First;
  else if (succeeded(parser.parseOptionalKeyword(runsNames[Phase::Last])))
    phase.runs = Phase::Last;
  if (parser.parseGreater())
    return {};
  return PhaseAttr::get(parser.getContext(), phase);
}
