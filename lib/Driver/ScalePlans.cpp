//===- ScalePlans.cpp - plans over the number of ranks --------------------===//

#include "dtc/Driver/ScalePlans.h"

#include "Fail.h"
#include "PlanProcess.h"
#include "ScaleRequest.h"
#include "dtc/Report/Report.h"
#include "dtc/Support/OutputFile.h"
#include "dtc/Support/ReadFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace mlir;
using namespace dtc;
namespace json = llvm::json;

namespace {

/// A plan on a number of ranks.
struct Row {
  ScalingPoint point;
  int64_t dp = 1;
  std::string memory;
  std::string reason; ///< why there is no plan; empty if there is one
};

class Command {
public:
  Command(StringRef program, ScaleRequest request)
      : program(program), request(std::move(request)) {}
  LogicalResult run();

private:
  FailureOr<Row> compile(const ScaleRequest::Plan &plan, int64_t ranks);
  FailureOr<std::string> writeTopology(TemporaryFile &file, int64_t ranks);
  void printHeader();
  void print(size_t curve, int64_t ranks, const Row &row);
  void printMeasured();
  LogicalResult draw();

  StringRef program;
  ScaleRequest request;
  Scaling scaling; ///< a curve for each plan, then the measured one
  unsigned nameWidth = 4;
};

} // namespace

/// Writes the topology of the machine's part that the ranks use: one node, or
/// the fewest full nodes. Returns the reason if there is none, else an empty
/// text.
FailureOr<std::string> Command::writeTopology(TemporaryFile &file,
                                              int64_t ranks) {
  const Topology &machine = *request.topology;
  int64_t perNode = std::min(ranks, machine.devicesPerNode);
  int64_t nodes = llvm::divideCeil(ranks, perNode);
  if (nodes > machine.nodes)
    return llvm::formatv("{0} are more than the {1} x {2} devices of {3}",
                         formatCount(ranks, "rank"), machine.nodes,
                         machine.devicesPerNode, request.topologyFile)
        .str();
  if (ranks % perNode)
    return llvm::formatv("{0} do not fill nodes of {1} devices",
                         formatCount(ranks, "rank"), perNode)
        .str();
  // The file is valid, because the request's topology was read from it.
  auto text = readFile(request.topologyFile, /*isText=*/true);
  if (!text)
    return fail(request.topologyFile + ": " + llvm::toString(text.takeError()));
  json::Value root = llvm::cantFail(json::parse((*text)->getBuffer()));
  (*root.getAsObject())["nodes"] = nodes;
  (*root.getAsObject())["devices_per_node"] = perNode;
  if (std::error_code error =
          file.write([&](llvm::raw_ostream &os) { os << root; }))
    return fail("cannot write a temporary file: " + error.message());
  return std::string();
}

FailureOr<Row> Command::compile(const ScaleRequest::Plan &plan, int64_t ranks) {
  Row row;
  if (ranks % plan.ranksPerReplica) {
    row.reason =
        llvm::formatv("tp x pp is {0}, which does not divide {1}",
                      plan.ranksPerReplica, formatCount(ranks, "rank"));
    return row;
  }
  row.dp = ranks / plan.ranksPerReplica;
  std::vector<std::string> options = {"--dp=" + std::to_string(row.dp)};
  if (request.batch)
    options.push_back(
        "--batch=" +
        std::to_string(*request.batch * (request.isWeak ? row.dp : 1)));
  auto file = TemporaryFile::create(".json");
  if (!file)
    return fail(llvm::toString(file.takeError()));
  if (request.topology) {
    FailureOr<std::string> reason = writeTopology(*file, ranks);
    if (failed(reason))
      return failure();
    row.reason = *reason;
    if (!row.reason.empty())
      return row;
    options.push_back("--topology=" + file->getPath());
  }
  SmallVector<StringRef> words(request.shared);
  llvm::append_range(words, plan.words);
  llvm::append_range(words, options);
  FailureOr<PlanReport> report = compilePlan(program, words);
  if (failed(report))
    return failure();
  // The title names the model.
  StringRef reason = report->reason;
  reason.consume_front(
      ("'" + llvm::sys::path::filename(request.shared.front()) + "': ").str());
  row.reason = reason.str();
  if (!row.reason.empty())
    return row;
  const json::Object *time = report->getExpectedTime();
  if (!time) {
    row.reason = "the report has no expected time";
    return row;
  }
  double seconds = *time->getNumber("seconds");
  row.memory = formatBytes(report->getPeakBytes());
  row.point = {ranks, seconds,
               std::round(*time->getNumber("samples_per_second") * seconds)};
  return row;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Prints cells to the right of a plan's name.
static void printCells(ArrayRef<std::string> cells) {
  constexpr unsigned widths[] = {7, 6, 9, 13, 12, 12, 10, 12};
  for (auto [cell, width] : llvm::zip(cells, widths))
    llvm::outs() << llvm::right_justify(cell, width);
}

/// The cells of time, ideal time, speed-up and efficiency.
static SmallVector<std::string> getCells(const ScalingPoint &point,
                                         const ScalingPoint &reference) {
  return {formatSeconds(point.seconds),
          formatSeconds(point.getIdealSeconds(reference)),
          llvm::formatv("{0:f2}", point.getSpeedUp(reference)),
          llvm::formatv("{0:f1} %", 100 * point.getEfficiency(reference))};
}

void Command::printHeader() {
  llvm::outs() << llvm::left_justify("plan", nameWidth);
  printCells({"ranks", "dp", "batch", "memory/rank", "step", "ideal",
              "speed-up", "efficiency"});
  llvm::outs() << "\n";
}

void Command::print(size_t curve, int64_t ranks, const Row &row) {
  llvm::outs() << llvm::left_justify(scaling.curves[curve].name, nameWidth);
  if (row.reason.empty()) {
    SmallVector<std::string> cells = {
        std::to_string(ranks), std::to_string(row.dp),
        std::to_string(int64_t(row.point.samples)), row.memory};
    llvm::append_range(cells, getCells(row.point, *scaling.getReference(
                                                      scaling.curves[curve])));
    printCells(cells);
  } else {
    printCells({std::to_string(ranks)});
    llvm::outs() << "  " << row.reason;
  }
  llvm::outs() << "\n";
}

void Command::printMeasured() {
  const ScalingCurve &curve = scaling.curves.back();
  for (const ScalingPoint &point : curve.points) {
    SmallVector<std::string> cells = {std::to_string(point.ranks), "-", "-",
                                      "-"};
    llvm::append_range(cells, getCells(point, *scaling.getReference(curve)));
    llvm::outs() << llvm::left_justify(curve.name, nameWidth);
    printCells(cells);
    llvm::outs() << "\n";
  }
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

LogicalResult Command::draw() {
  if (request.picture.empty())
    return success();
  llvm::Error error = writeOutput(
      request.picture, [&](llvm::raw_ostream &os) { scaling.printSvg(os); });
  return error ? fail(llvm::toString(std::move(error))) : success();
}

LogicalResult Command::run() {
  scaling.title = request.getModelName() +
                  (request.isWeak ? ", weak scaling" : ", strong scaling");
  if (request.batch)
    scaling.title += ", batch " + std::to_string(*request.batch) +
                     (request.isWeak ? " for each replica" : "");
  for (const ScaleRequest::Plan &plan : request.plans)
    scaling.curves.push_back({plan.name});
  if (!request.measured.empty())
    scaling.curves.push_back({"measured", true, request.measured});
  for (const ScalingCurve &curve : scaling.curves)
    nameWidth = std::max(nameWidth, unsigned(curve.name.size()));

  printHeader();
  std::string lastReason;
  // Rows of the fewest ranks come first, because speed-ups refer to them.
  for (int64_t ranks : request.ranks) {
    SmallVector<Row> rows;
    for (auto [plan, curve] : llvm::zip(request.plans, scaling.curves)) {
      FailureOr<Row> row = compile(plan, ranks);
      if (failed(row))
        return failure();
      if (StringRef(row->reason).starts_with("unknown option"))
        return fail(row->reason);
      rows.push_back(*row);
      if (row->reason.empty())
        curve.points.push_back(row->point);
      else
        scaling.notes.push_back("not possible: " + plan.name + " on " +
                                formatCount(ranks, "rank") + ": " +
                                (lastReason = row->reason));
    }
    for (auto [i, row] : llvm::enumerate(rows))
      print(i, ranks, row);
    llvm::outs().flush(); // planning a large model takes seconds
  }
  if (llvm::all_of(scaling.curves, [](const ScalingCurve &curve) {
        return curve.isMeasured || curve.points.empty();
      }))
    return fail("no plan is possible on any of these numbers of ranks; the "
                "last reason is: " +
                lastReason);
  if (!request.measured.empty())
    printMeasured();
  return draw();
}

LogicalResult dtc::scalePlans(StringRef program,
                              ArrayRef<const char *> arguments) {
  if (llvm::is_contained(arguments, StringRef("--help"))) {
    llvm::outs() << "usage: " << ScaleRequest::usage << "\n";
    return success();
  }
  FailureOr<ScaleRequest> request = ScaleRequest::parse(arguments);
  if (failed(request))
    return failure();
  return Command(program, std::move(*request)).run();
}
