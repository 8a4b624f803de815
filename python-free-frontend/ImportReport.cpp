//===- ImportReport.cpp - prints the report of an import ------------------===//
//
// A single issue is one line. Several issues are a list below one line.
//
//===----------------------------------------------------------------------===//

#include "dtc/Frontend/Import.h"

#include "Support/NameList.h"
#include "dtc/Support/ShortenMessage.h"

#include "llvm/Support/raw_ostream.h"

#include <map>
#include <tuple>
#include <vector>

using namespace llvm;

namespace dtc {

/// Identifies issues that differ only in their node.
using Kind = std::tuple<StringRef, StringRef, StringRef>;

static Kind getKind(const ImportIssue &issue) {
  return {issue.op, issue.reason, issue.advice};
}

/// Prints one line: `start`, `whose` (the node, if there is one), and the
/// issue.
static void print(raw_ostream &os, StringRef start, const std::string &whose,
                  const ImportIssue &issue) {
  std::string line = start.str() + whose + issue.reason;
  if (!issue.advice.empty())
    line += "; " + issue.advice;
  os << shortenMessage(line) << '\n';
}

static void print(raw_ostream &os, StringRef start, const ImportIssue &issue) {
  print(os, start,
        issue.op.empty() ? "" : issue.op + " (node '" + issue.node + "'): ",
        issue);
}

void ImportReport::printIssues(raw_ostream &os) const {
  if (issues.empty())
    return;
  std::string start = path + ": error: ";
  if (issues.size() == 1)
    return print(os, start, issues.front());
  os << shortenMessage(start) << issues.size()
     << " problems prevent the import of this model:\n";
  // If a kind has more than a few nodes, one line lists the first of them.
  constexpr size_t maxAlike = 8;
  std::map<Kind, std::vector<std::string>> nodes;
  for (const ImportIssue &issue : issues)
    nodes[getKind(issue)].push_back(issue.node);
  for (const ImportIssue &issue : issues) {
    std::vector<std::string> &alike = nodes[getKind(issue)];
    if (alike.empty())
      continue; // printed with the first issue of this kind
    if (issue.op.empty() || alike.size() <= maxAlike) {
      print(os, "  ", issue);
      continue;
    }
    print(os, "  ",
          issue.op + " (" + std::to_string(alike.size()) +
              " nodes: " + frontend::listFirstNames(alike) + "): ",
          issue);
    alike.clear();
  }
}

void ImportReport::printNotes(raw_ostream &os, bool isVerbose) const {
  for (const std::string &warning : warnings)
    os << shortenMessage(path + ": warning: " + warning) << '\n';
  for (const std::string &note : notes)
    os << shortenMessage(path + ": note: " + note) << '\n';
  if (isVerbose)
    for (const std::string &detail : details)
      os << shortenMessage(path + ": note: " + detail) << '\n';
}

void ImportReport::printConstants(raw_ostream &os) const {
  if (constants.empty())
    return;
  os << "tensors that are not trained:\n";
  for (const Constant &constant : constants)
    os << "  " << constant.name << ' ' << constant.shape << ": "
       << constant.reason << '\n';
}

} // namespace dtc
