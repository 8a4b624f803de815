//===- LauncherMessages.cpp - mpirun's messages about a failed job --------===//

#include "LauncherMessages.h"

using namespace dtc::rt;

static bool isDashes(std::string_view line) {
  return line.size() > 20 && line.find_first_not_of("-\n") == line.npos;
}

/// Joins several lines to one.
static std::string joinLines(std::string_view text) {
  std::string line;
  for (char c : text)
    if (c != '\n' && c != ' ')
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  while (!line.empty() && line.back() == ' ')
    line.pop_back();
  return line;
}

/// Whether a paragraph only says that a process has failed.
static bool tellsOfFailure(const std::string &paragraph) {
  for (const char *words : {"non-zero exit code", "non-zero status",
                            "exited on signal", "MPI_ABORT was invoked"})
    if (paragraph.find(words) != paragraph.npos)
      return true;
  return false;
}

/// Whether a line only counts the paragraphs that mpirun has left out.
static bool isOfAggregation(const std::string &line) {
  return line.starts_with('[') &&
         (line.find("sent help message") != line.npos ||
          line.find("orte_base_help_aggregate") != line.npos);
}

std::string LauncherMessages::addLine(const std::string &line) {
  if (!isDashes(line)) {
    bool isError = line.find(": error: ") != line.npos;
    hasError |= isError;
    // A rank's line is shown, whatever is around it.
    if (isError || line.find(": warning: ") != line.npos)
      return line;
    if (isInParagraph) {
      paragraph += line;
      return {};
    }
    return isOfAggregation(line) ? "" : line;
  }
  isInParagraph = !isInParagraph;
  if (isInParagraph) {
    paragraph.clear();
    return {};
  }
  std::string words = joinLines(paragraph);
  if (!tellsOfFailure(words))
    return line + paragraph + line;
  failure = words;
  return {};
}

std::string LauncherMessages::add(std::string_view text) {
  std::string shown;
  rest += text;
  size_t begin = 0;
  for (size_t end; (end = rest.find('\n', begin)) != rest.npos; begin = end + 1)
    shown += addLine(rest.substr(begin, end + 1 - begin));
  rest.erase(0, begin);
  return shown;
}

std::string LauncherMessages::finish(const std::string &program, bool failed) {
  std::string shown = (isInParagraph ? paragraph : "") + rest;
  if (!failed || hasError || failure.empty())
    return shown;
  return shown + program + ": error: " + failure + "\n";
}
