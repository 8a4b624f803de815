//===- ImportReport.cpp - what the user is told about an import -----------===//
//
// One issue is one line; several are a list under one line.
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

/// Issues that differ in the node only.
using Kind = std::tuple<StringRef, StringRef, StringRef>;

static Kind getKind(const ImportIssue &issue) {
  return {issue.op, issue.reason, issue.advice};
}

/// One line: where it stands, whose it is if it is a node's, and the issue.
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
     << " things stand in the way of importing this model:\n";
  // If a kind fills more than a few lines, one line names the first nodes.
  constexpr size_t maxAlike = 8;
  std::map<Kind, std::vector<std::string>> nodes;
  for (const ImportIssue &issue : issues)
    nodes[getKind(issue)].push_back(issue.node);
  for (const ImportIssue &issue : issues) {
    std::vector<std::string> &alike = nodes[getKind(issue)];
    if (alike.empty())
      continue; // in the line of the first of its kind
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
