//===- ImportReport.cpp - what the user is told about an import -----------===//
//
// One issue is one line; several are a list under one line.
//
//===----------------------------------------------------------------------===//

#include "dtc/Frontend/Import.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dtc {

static void print(raw_ostream &os, const ImportIssue &issue) {
  if (!issue.op.empty())
    os << issue.op << " (node '" << issue.node << "'): ";
  os << issue.reason;
  if (!issue.advice.empty())
    os << "; " << issue.advice;
  os << '\n';
}

void ImportReport::printIssues(raw_ostream &os) const {
  if (issues.empty())
    return;
  os << path << ": error: ";
  if (issues.size() == 1)
    return print(os, issues.front());
  os << issues.size() << " things stand in the way of importing this model:\n";
  for (const ImportIssue &issue : issues) {
    os << "  ";
    print(os, issue);
  }
}

void ImportReport::printNotes(raw_ostream &os) const {
  for (const std::string &note : notes)
    os << path << ": note: " << note << '\n';
}

} // namespace dtc
