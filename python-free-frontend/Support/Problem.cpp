//===- Problem.cpp - error with a reason and an advice --------------------===//
//
// See Problem.h.
//
//===----------------------------------------------------------------------===//

#include "Support/Problem.h"

#include "llvm/Support/raw_ostream.h"

using namespace dtc::frontend;

char Problem::ID;

void Problem::log(llvm::raw_ostream &os) const {
  os << reason;
  if (!advice.empty())
    os << "; " << advice;
}

std::error_code Problem::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

llvm::Error dtc::frontend::problem(const llvm::Twine &reason,
                                   const llvm::Twine &advice) {
  return llvm::make_error<Problem>(reason.str(), advice.str());
}

Problem dtc::frontend::takeProblem(llvm::Error error) {
  Problem result("", "");
  llvm::handleAllErrors(std::move(error),
                        [&](const Problem &found) { result = found; });
  return result;
}
