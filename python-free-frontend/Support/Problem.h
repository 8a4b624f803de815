//===- Problem.h - error with a reason and an advice ------------*- C++ -*-===//
//
// The error type of the frontend. It has a reason and an advice, so that a
// message can say both.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_FRONTEND_SUPPORT_PROBLEM_H
#define DTC_FRONTEND_SUPPORT_PROBLEM_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace dtc::frontend {

class Problem : public llvm::ErrorInfo<Problem> {
public:
  static char ID;
  std::string reason;
  std::string advice;

  Problem(std::string reason, std::string advice)
      : reason(std::move(reason)), advice(std::move(advice)) {}
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;
};

llvm::Error problem(const llvm::Twine &reason, const llvm::Twine &advice = "");

/// Extracts the Problem from `error`, which must hold exactly one.
Problem takeProblem(llvm::Error error);

} // namespace dtc::frontend

#endif // DTC_FRONTEND_SUPPORT_PROBLEM_H
