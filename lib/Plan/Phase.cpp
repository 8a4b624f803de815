//===- Phase.cpp - names of phases ----------------------------------------===//
//
// A phase of level or chunk 0 has the bare name; others carry the number. A
// last run is weight.last, weight1.last, ...; a first one forward.first, ...
//
//===----------------------------------------------------------------------===//

#include "dtc/Plan/Phase.h"
#include "llvm/ADT/STLExtras.h"

using namespace dtc;

static constexpr llvm::StringLiteral names[] = {
    "inputs", "prologue", "forward", "backward", "weight", "reduce", "update"};

static constexpr llvm::StringLiteral suffixes[] = {"", ".first", ".last"};

std::string Phase::getName() const {
  return names[kind].str() + (level == 0 ? "" : std::to_string(level)) +
         suffixes[runs].str();
}

std::optional<Phase> Phase::parse(llvm::StringRef name) {
  Runs runs = All;
  for (Runs which : {First, Last})
    if (name.consume_back(suffixes[which]))
      runs = which;
  llvm::StringRef base = name.rtrim("0123456789");
  unsigned level = 0;
  if (base != name && name.drop_front(base.size()).getAsInteger(10, level))
    return std::nullopt;
  for (auto [kind, candidate] : llvm::enumerate(names))
    if (base == candidate)
      return Phase{static_cast<Kind>(kind), level, runs};
  return std::nullopt;
}
