//===- ComparePlans.cpp - several plans of a model, side by side ----------===//

#include "dtc/Driver/ComparePlans.h"

#include "Fail.h"
#include "dtc/Report/Report.h"
#include "dtc/Support/ReadFile.h"
#include "dtc/Support/TemporaryFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/StringSaver.h"

using namespace mlir;
using namespace dtc;
namespace json = llvm::json;

static constexpr const char *usage =
    "dtc compare MODEL.onnx [OPTION...] --plan \"--dp 2 --pp 2\" --plan ... or "
    "--plans FILE, which has the options of a plan in each line";

namespace {

struct Request {
  SmallVector<StringRef> shared;  ///< the model, and the options of all plans
  std::vector<std::string> plans; ///< the options of each plan, as one text
};

/// A row of the table.
struct PlanRow {
  std::string plan, memory, step, traffic, bubble, throughput;
  std::string reason; ///< why there is no such plan; empty if there is one
};

} // namespace

static LogicalResult readPlans(StringRef path, Request &request) {
  auto file = readFile(path, /*isText=*/true);
  if (!file)
    return fail("--plans: '" + path + "' " + llvm::toString(file.takeError()));
  for (StringRef line : llvm::split((*file)->getBuffer(), '\n')) {
    line = line.trim();
    if (!line.empty() && !line.starts_with("#"))
      request.plans.push_back(line.str());
  }
  return success();
}

/// Rejects options for output files: the only output is the table.
static LogicalResult expectNoOutput(StringRef word) {
  StringRef name = word.split('=').first;
  for (StringRef other : {"-o", "--report-json", "--stop-after", "--emit",
                          "--timeline", "--graph", "--dump-dir", "--version"})
    if (name == other)
      return fail("found '" + name +
                  "', but dtc compare prints a table alone; leave it out");
  return success();
}

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

static LogicalResult parse(ArrayRef<const char *> arguments, Request &request) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto [name, value] = StringRef(arguments[i]).split('=');
    if (name != "--plan" && name != "--plans") {
      if (failed(expectNoOutput(arguments[i])))
        return failure();
      request.shared.push_back(arguments[i]);
      continue;
    }
    if (name.size() == strlen(arguments[i])) {
      if (++i == arguments.size())
        return fail("found no value of " + name + ", expected " + usage);
      value = arguments[i];
    }
    if (name == "--plan")
      request.plans.push_back(value.trim().str());
    else if (failed(readPlans(value, request)))
      return failure();
  }
  for (const std::string &plan : request.plans)
    if (hasOpenQuote(plan))
      return fail("found the plan " + plan + ", of which a quote has no end");
  if (request.shared.empty() || request.plans.empty())
    return fail(llvm::Twine("found no ") +
                (request.plans.empty() ? "plan" : "model") + ", expected " +
                usage);
  return success();
}

/// The first error in a compiler's output, without "dtc: error: ".
static std::string findReason(StringRef output, int status) {
  for (StringRef line : llvm::split(output, '\n'))
    if (size_t at = line.find("error: "); at != StringRef::npos)
      return line.substr(at + strlen("error: ")).str();
  return llvm::formatv("dtc ended with status {0}", status).str();
}

static int64_t sumBytes(const json::Object &stage, StringRef list) {
  int64_t bytes = 0;
  if (const json::Array *entries = stage.getArray(list))
    for (const json::Value &entry : *entries)
      bytes += entry.getAsObject()->getInteger("bytes").value_or(0);
  return bytes;
}

/// Fills a row with the figures of the report, each of the stage where it is
/// largest.
static void readReport(const json::Object &report, PlanRow &row) {
  int64_t memory = 0, traffic = 0;
  for (const json::Value &value : *report.getArray("stages")) {
    const json::Object &stage = *value.getAsObject();
    const json::Object &bytes = *stage.getObject("bytes");
    memory = std::max(memory, *bytes.getInteger("peak") +
                                  *bytes.getInteger("reserved"));
    traffic = std::max(traffic, sumBytes(stage, "collectives") +
                                    sumBytes(stage, "sends"));
  }
  row.memory = formatBytes(memory);
  row.traffic = formatBytes(traffic);
  row.bubble =
      llvm::formatv("{0:f1} %", 100 * *report.getNumber("bubble_simulated"));
  row.step = row.throughput = "-";
  const json::Array *expected = report.getArray("expected");
  if (!expected)
    return;
  const json::Object &time = *expected->front().getAsObject();
  row.step = formatSeconds(*time.getNumber("seconds"));
  std::optional<double> tokens = time.getNumber("tokens_per_second");
  row.throughput = llvm::formatv(
      "{0} {1}/s, MFU {2:f1} %",
      formatRate(tokens ? *tokens : *time.getNumber("samples_per_second")),
      tokens ? "tokens" : "samples", 100 * *time.getNumber("mfu"));
}

static FailureOr<PlanRow> compile(StringRef program, const Request &request,
                                  const std::string &plan) {
  auto report = TemporaryFile::create(".json");
  auto log = TemporaryFile::create(".log");
  for (llvm::Expected<TemporaryFile> *file : {&report, &log})
    if (!*file)
      return fail(llvm::toString(file->takeError()));
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver(allocator);
  SmallVector<const char *> words;
  llvm::cl::TokenizeGNUCommandLine(plan, saver, words);
  for (StringRef word : words)
    if (failed(expectNoOutput(word)))
      return failure();
  std::string reportOption = "--report-json=" + report->getPath();
  SmallVector<StringRef> arguments = {program, "--stop-after=schedule",
                                      reportOption};
  llvm::append_range(arguments, request.shared);
  llvm::append_range(arguments, words);
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(""),
                                          StringRef(log->getPath())};
  std::string error;
  int status =
      llvm::sys::ExecuteAndWait(program, arguments, std::nullopt, redirects,
                                /*SecondsToWait=*/0, /*MemoryLimit=*/0, &error);
  if (!error.empty())
    return fail("cannot run '" + program + "': " + error);
  PlanRow row;
  row.plan = plan;
  auto text = llvm::MemoryBuffer::getFile((status ? log : report)->getPath());
  if (!text)
    return fail("cannot read what dtc wrote: " + text.getError().message());
  if (status) {
    row.reason = findReason((*text)->getBuffer(), status);
    return row;
  }
  llvm::Expected<json::Value> value = json::parse((*text)->getBuffer());
  if (!value)
    return fail("cannot read the report: " + llvm::toString(value.takeError()));
  readReport(*value->getAsObject(), row);
  return row;
}

LogicalResult dtc::comparePlans(StringRef program,
                                ArrayRef<const char *> arguments) {
  if (llvm::is_contained(arguments, StringRef("--help"))) {
    llvm::outs() << "usage: " << usage << "\n";
    return success();
  }
  Request request;
  if (failed(parse(arguments, request)))
    return failure();
  size_t width = 4;
  for (const std::string &plan : request.plans)
    width = std::max(width, plan.size());
  auto print = [&](const PlanRow &row) {
    llvm::outs() << llvm::left_justify(row.plan, unsigned(width));
    if (row.reason.empty())
      for (const auto &[cell, size] :
           {std::pair<StringRef, unsigned>(row.memory, 12),
            {row.step, 12},
            {row.traffic, 15},
            {row.bubble, 10}})
        llvm::outs() << llvm::right_justify(cell, size);
    llvm::outs() << "  " << (row.reason.empty() ? row.throughput : row.reason)
                 << "\n";
    llvm::outs().flush(); // planning a large model takes seconds
  };
  print(
      {"plan", "memory/rank", "step", "communication", "bubble", "speed", ""});
  bool any = false;
  for (const std::string &plan : request.plans) {
    FailureOr<PlanRow> row = compile(program, request, plan);
    if (failed(row))
      return failure();
    print(*row);
    any |= row->reason.empty();
  }
  return success(any);
}
