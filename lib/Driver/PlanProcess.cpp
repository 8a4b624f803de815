//===- PlanProcess.cpp - plans of command lines, each in a process --------===//
//
// A process for each plan keeps plans apart: options are global in LLVM's
// parser, and errors become reasons.
//
//===----------------------------------------------------------------------===//

#include "PlanProcess.h"
#include "Fail.h"
#include "dtc/Support/TemporaryFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/StringSaver.h"

using namespace mlir;
using namespace dtc;
namespace json = llvm::json;

/// Checks for an open quote, which TokenizeGNUCommandLine would close at the
/// end.
static bool hasOpenQuote(StringRef text) {
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\\')
      ++i;
    else if (quote)
      quote = text[i] == quote ? 0 : quote;
    else if (text[i] == '"' || text[i] == '\'')
      quote = text[i];
  return quote;
}

FailureOr<std::vector<std::string>> dtc::splitPlan(StringRef plan) {
  if (hasOpenQuote(plan))
    return fail("found the plan " + plan + ", of which a quote has no end");
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver(allocator);
  SmallVector<const char *> words;
  llvm::cl::TokenizeGNUCommandLine(plan, saver, words);
  return std::vector<std::string>(words.begin(), words.end());
}

LogicalResult dtc::expectNoOutput(StringRef word, StringRef reason) {
  StringRef name = word.split('=').first;
  for (StringRef other : {"-o", "--report-json", "--stop-after", "--emit",
                          "--timeline", "--graph", "--dump-dir", "--version"})
    if (name == other)
      return fail("found '" + name + "', but " + reason + "; leave it out");
  return success();
}

/// The first error in a compiler's output, without "dtc: error: ".
static std::string findReason(StringRef output, int status) {
  for (StringRef line : llvm::split(output, '\n'))
    if (size_t at = line.find("error: "); at != StringRef::npos)
      return line.substr(at + strlen("error: ")).str();
  return llvm::formatv("dtc ended with status {0}", status).str();
}

int64_t PlanReport::getPeakBytes() const {
  int64_t peak = 0;
  for (const json::Value &stage : *report.getArray("stages")) {
    const json::Object &bytes = *stage.getAsObject()->getObject("bytes");
    peak = std::max(peak,
                    *bytes.getInteger("peak") + *bytes.getInteger("reserved"));
  }
  return peak;
}

const json::Object *PlanReport::getExpectedTime() const {
  const json::Array *expected = report.getArray("expected");
  return expected ? expected->front().getAsObject() : nullptr;
}

FailureOr<PlanReport> dtc::compilePlan(StringRef program,
                                       ArrayRef<StringRef> options) {
  auto report = TemporaryFile::create(".json");
  auto log = TemporaryFile::create(".log");
  for (llvm::Expected<TemporaryFile> *file : {&report, &log})
    if (!*file)
      return fail(llvm::toString(file->takeError()));
  std::string reportOption = "--report-json=" + report->getPath();
  SmallVector<StringRef> arguments = {program, "--stop-after=schedule",
                                      reportOption};
  llvm::append_range(arguments, options);
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(""),
                                          StringRef(log->getPath())};
  std::string error;
  int status =
      llvm::sys::ExecuteAndWait(program, arguments, std::nullopt, redirects,
                                /*SecondsToWait=*/0, /*MemoryLimit=*/0, &error);
  if (!error.empty())
    return fail("cannot run '" + program + "': " + error);
  auto text = llvm::MemoryBuffer::getFile((status ? log : report)->getPath());
  if (!text)
    return fail("cannot read what dtc wrote: " + text.getError().message());
  PlanReport result;
  if (status) {
    result.reason = findReason((*text)->getBuffer(), status);
    return result;
  }
  llvm::Expected<json::Value> value = json::parse((*text)->getBuffer());
  if (!value)
    return fail("cannot read the report: " + llvm::toString(value.takeError()));
  result.report = std::move(*value->getAsObject());
  return result;
}
