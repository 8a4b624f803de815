//===- Term.h - functions of a parameter that can be undone -----*- C++ -*-===//
//
// Where the exporter computed a function of a parameter, its record names the
// call, and often the line of Python says the number:
//
//   output = output * (1.0 + self.weight.float())
//   return self.scale.exp() * similarity
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_EXPORTERS_DYNAMO_TERM_H
#define DTC_FRONTEND_EXPORTERS_DYNAMO_TERM_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace dtc::frontend {

struct Term {
  enum Kind { AddConstant, Multiply, Exp, Sigmoid, Tanh } kind;
  /// The summand, or the factor.
  double constant = 0;

  bool hasConstant() const { return kind == AddConstant || kind == Multiply; }
  /// The operator that computes it.
  llvm::StringRef getOperator() const;
  double undo(double value) const;
};

/// Returns the function of the call `op` ("exp", "neg"), if it has one operand.
std::optional<Term> findFunction(llvm::StringRef op);

/// Returns the function of an attribute that the call `op` ("add", "exp")
/// computes, if the line states it.
std::optional<Term> findTerm(llvm::StringRef line, llvm::StringRef attribute,
                             llvm::StringRef op);

/// The attributes of the module that a line mentions ("items.weight.T" of
/// "self.items.weight.T"), each time that it does.
std::vector<std::string> findAttributes(llvm::StringRef line);

/// The same of any object.
std::vector<std::string> findMembers(llvm::StringRef line);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_EXPORTERS_DYNAMO_TERM_H
