//===- ComparePlans.cpp - several plans of a model, side by side ----------===//

#include "dtc/Driver/ComparePlans.h"

#include "Fail.h"
#include "PlanProcess.h"
#include "dtc/Report/Report.h"
#include "dtc/Support/ReadFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dtc;
namespace json = llvm::json;

static constexpr const char *onlyTable = "dtc compare prints a table alone";
static constexpr const char *usage =
    "dtc compare MODEL.onnx [OPTION...] --plan \"--dp 2 --pp 2\" --plan ... or "
    "--plans FILE, which has the options of a plan in each line";

namespace {

struct Request {
  SmallVector<StringRef> shared;  ///< the model, and the options of all plans
  std::vector<std::string> plans; ///< the options of each plan, as one text
  std::vector<std::vector<std::string>> words; ///< and as a list
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

static LogicalResult parse(ArrayRef<const char *> arguments, Request &request) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto [name, value] = StringRef(arguments[i]).split('=');
    if (name != "--plan" && name != "--plans") {
      if (failed(expectNoOutput(arguments[i], onlyTable)))
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
  for (const std::string &plan : request.plans) {
    FailureOr<std::vector<std::string>> words = splitPlan(plan);
    if (failed(words))
      return failure();
    for (StringRef word : *words)
      if (failed(expectNoOutput(word, onlyTable)))
        return failure();
    request.words.push_back(*words);
  }
  if (request.shared.empty() || request.plans.empty())
    return fail(llvm::Twine("found no ") +
                (request.plans.empty() ? "plan" : "model") + ", expected " +
                usage);
  return success();
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
static void readReport(const PlanReport &plan, PlanRow &row) {
  int64_t traffic = 0;
  for (const json::Value &value : *plan.report.getArray("stages")) {
    const json::Object &stage = *value.getAsObject();
    int64_t bytes = sumBytes(stage, "collectives") + sumBytes(stage, "sends");
    // A worker pushes to the server, and pulls as much.
    bytes += 2 * *stage.getObject("bytes")->getInteger("pushed");
    // Programs between steps count by the share of a step.
    for (const json::Value &entry : *stage.getArray("programs")) {
      const json::Object &program = *entry.getAsObject();
      bytes += sumBytes(program, "collectives") / *program.getInteger("period");
    }
    traffic = std::max(traffic, bytes);
  }
  row.memory = formatBytes(plan.getPeakBytes());
  row.traffic = formatBytes(traffic);
  row.bubble = llvm::formatv("{0:f1} %",
                             100 * *plan.report.getNumber("bubble_simulated"));
  row.step = row.throughput = "-";
  const json::Object *expected = plan.getExpectedTime();
  if (!expected)
    return;
  const json::Object &time = *expected;
  row.step = formatSeconds(*time.getNumber("seconds"));
  std::optional<double> tokens = time.getNumber("tokens_per_second");
  row.throughput = llvm::formatv(
      "{0} {1}/s, MFU {2:f1} %",
      formatRate(tokens ? *tokens : *time.getNumber("samples_per_second")),
      tokens ? "tokens" : "samples", 100 * *time.getNumber("mfu"));
}

static FailureOr<PlanRow> compile(StringRef program, const Request &request,
                                  size_t plan) {
  SmallVector<StringRef> options(request.shared);
  llvm::append_range(options, request.words[plan]);
  FailureOr<PlanReport> report = compilePlan(program, options);
  if (failed(report))
    return failure();
  PlanRow row;
  row.plan = request.plans[plan];
  row.reason = report->reason;
  if (row.reason.empty())
    readReport(*report, row);
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
  for (size_t plan = 0; plan < request.plans.size(); ++plan) {
    FailureOr<PlanRow> row = compile(program, request, plan);
    if (failed(row))
      return failure();
    print(*row);
    any |= row->reason.empty();
  }
  return success(any);
}
