//===- ReportPrint.cpp - the figures of a plan, as text and JSON ----------===//
//
// Prints tables for people, and the same figures as JSON.
//
//===----------------------------------------------------------------------===//

#include "dtc/Report/Report.h"
#include "dtc/Support/Axes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dtc;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Three digits and a unit: 12.3 MiB, 4.56 GFLOP.
static std::string formatSize(double scaled, double base,
                              ArrayRef<StringRef> units) {
  size_t unit = 0;
  while (scaled >= base - 0.5 && unit + 1 < units.size()) {
    scaled /= base;
    ++unit;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  int digits = unit == 0 || scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2;
  os << llvm::format("%.*f ", digits, scaled) << units[unit];
  return text;
}
std::string dtc::formatBytes(int64_t bytes) {
  return formatSize(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
}
static std::string formatFlops(int64_t flops) {
  return formatSize(flops, 1000, {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP"});
}

std::string dtc::formatRate(double perSecond) {
  std::string text;
  if (perSecond < 99.5) {
    llvm::raw_string_ostream(text) << llvm::format("%.3g", perSecond);
    return text;
  }
  text = formatSize(perSecond, 1000, {"", "k", "M", "G", "T"});
  llvm::erase(text, ' ');
  return text;
}

std::string dtc::formatSeconds(double seconds) {
  return formatSize(seconds * 1e9, 1000, {"ns", "us", "ms", "s"});
}

/// The name of a figure, and a cell for each stage.
using Row = std::pair<std::string, std::vector<std::string>>;

static void printTable(ArrayRef<Row> rows, llvm::raw_ostream &os) {
  size_t nameWidth = 0, width = 0;
  for (auto &[name, cells] : rows) {
    nameWidth = std::max(nameWidth, name.size());
    for (const std::string &cell : cells)
      width = std::max(width, cell.size());
  }
  for (auto &[name, cells] : rows) {
    os << llvm::left_justify(name, nameWidth);
    for (const std::string &cell : cells)
      os << "  " << llvm::right_justify(cell, width);
    os << "\n";
  }
}

/// Prints a column for the slowest rank of each stage.
static void printTimes(ArrayRef<const RankTime *> slowest,
                       llvm::raw_ostream &os) {
  std::vector<Row> rows = {{"time of a step, slowest rank", {}}, {"rank", {}}};
  auto addRow = [&](const std::string &name, const auto &get) {
    rows.push_back({name, {}});
    for (const RankTime *time : slowest) {
      std::optional<double> seconds = get(*time);
      rows.back().second.push_back(seconds ? formatSeconds(*seconds) : "-");
    }
  };
  auto addRows = [&](auto member, auto getName) {
    std::decay_t<decltype(slowest.front()->*member)> all;
    for (const RankTime *time : slowest)
      all.insert((time->*member).begin(), (time->*member).end());
    for (auto &[key, seconds] : all)
      addRow(getName(key),
             [&, key = key](const RankTime &time) -> std::optional<double> {
               auto it = (time.*member).find(key);
               if (it == (time.*member).end())
                 return std::nullopt;
               return it->second;
             });
  };
  for (const RankTime *time : slowest) {
    rows[0].second.push_back("stage " + std::to_string(time->stage));
    rows[1].second.push_back(std::to_string(time->rank));
  }
  addRow("compute, by FLOPs",
         [](const RankTime &time) { return time.compute; });
  addRows(&RankTime::collectives,
          [](const CollectiveClass &own) { return own.getName(); });
  addRows(&RankTime::sends, [](int64_t stage) {
    return "send to stage " + std::to_string(stage);
  });
  addRow("communication",
         [](const RankTime &time) { return time.getCommunication(); });
  os << "\n";
  printTable(rows, os);
}

std::string dtc::formatCount(int64_t number, StringRef what) {
  StringRef ending = number == 1 ? "" : what.ends_with("ch") ? "es" : "s";
  return (std::to_string(number) + " " + what + ending).str();
}

static void printExpected(const Report &report, llvm::raw_ostream &os) {
  for (const ExpectedTime &time : report.expected) {
    os << "expected     " << formatSeconds(time.seconds) << " a step"
       << (time.numbers == "tf32" ? " with --tf32, " : ", ");
    bool hasTokens = report.tokens > 0;
    os << formatRate(double(hasTokens ? report.tokens : report.samples) /
                     time.seconds)
       << (hasTokens ? " tokens/s" : " samples/s")
       << llvm::format(", MFU %.1f %% of ", 100 * report.getUtilization(time))
       << formatFlops(int64_t(time.peak)) << "/s (" << time.numbers << ")\n";
  }
}

void Report::print(llvm::raw_ostream &os) const {
  int64_t tp = 1;
  for (const auto &[axis, size] : mesh)
    if (axis == tensorAxis)
      tp = size;
  auto isOfRanks = [&](const PaddedParameter &own) {
    return int64_t(llvm::alignTo(own.size, tp)) == own.paddedSize;
  };
  os << llvm::format("parameters   %lld\n", (long long)parameters);
  for (const PaddedParameter &own : padded)
    os << "padded       " << own.name << ", dimension " << own.dim << ": "
       << own.size << " to " << own.paddedSize
       << (isOfRanks(own) ? ", the next multiple of tp\n"
                          : ", for rows that products read fast\n");
  if (attentionBlocks)
    os << "attention    gradients in up to " << attentionBlocks
       << " blocks of queries and keys, whose scores fit in half of the "
          "library's workspace (--workspace)\n";
  os << "pipeline     " << formatCount(stages.size(), "stage") << " of "
     << formatCount(ranksPerStage, "rank") << ", "
     << formatCount(microbatches, "micro-batch");
  if (rounds > 1)
    os << " in " << formatCount(rounds, "round");
  os << "\n"
     << "mesh         ";
  llvm::interleave(
      mesh, os, [&](auto &axis) { os << axis.first << " " << axis.second; },
      " x ");
  os << "\n"
     << llvm::format("bubble       %.1f %% with equal stages, %.1f %% with "
                     "%s costs\n",
                     100 * bubble, 100 * bubbleSimulated,
                     isMeasured ? "measured" : "estimated")
     << llvm::format("kernels      %lld, launched from %lld places\n",
                     (long long)kernels, (long long)launches);
  printExpected(*this, os);
  os << "\n";

  std::vector<Row> rows;
  auto addRow = [&](StringRef name, auto get) {
    rows.push_back({name.str(), {}});
    for (const StageReport &stage : stages)
      rows.back().second.push_back(get(stage));
  };
  rows.push_back({"per rank and step", {}});
  for (size_t i = 0; i < stages.size(); ++i)
    rows.back().second.push_back("stage " + std::to_string(i));
  addRow("parameters", [](const StageReport &stage) {
    return std::to_string(stage.parameters);
  });
  auto addBytes = [&](StringRef name, int64_t StageReport::*field) {
    addRow(name, [=](const StageReport &s) { return formatBytes(s.*field); });
  };
  auto addFlops = [&](StringRef name, int64_t StageReport::*field) {
    addRow(name, [=](const StageReport &s) { return formatFlops(s.*field); });
  };
  addFlops("forward pass", &StageReport::forwardFlops);
  // The usual count: B and W of a schedule are halves of the backward pass.
  addRow("backward pass", [](const StageReport &stage) {
    return formatFlops(stage.backwardFlops + stage.weightFlops);
  });
  addFlops("  of it weight gradients", &StageReport::weightFlops);
  addFlops("update, once a step", &StageReport::onceFlops);
  addBytes("memory: parameters", &StageReport::parameterBytes);
  addBytes("memory: gradients", &StageReport::gradientBytes);
  addBytes("memory: optimizer states", &StageReport::stateBytes);
  addBytes("memory: inputs", &StageReport::inputBytes);
  if (llvm::any_of(stages, [](const StageReport &stage) {
        return stage.gatheredBytes > 0;
      }))
    addBytes("memory: gathered parameters", &StageReport::gatheredBytes);
  addBytes("memory: activations", &StageReport::activationBytes);
  addBytes("memory: peak", &StageReport::peakBytes);
  if (llvm::any_of(stages, [](const StageReport &stage) {
        return stage.reservedBytes > 0;
      })) {
    addBytes("memory: reserved", &StageReport::reservedBytes);
    addRow("memory: needed", [](const StageReport &stage) {
      return formatBytes(stage.getNeededBytes());
    });
  }
  if (llvm::any_of(stages, [](const StageReport &stage) {
        return stage.hostBytes > 0;
      })) {
    addBytes("host: memory", &StageReport::hostBytes);
    addBytes("host: read", &StageReport::hostReadBytes);
    addBytes("host: written", &StageReport::hostWrittenBytes);
  }
  if (llvm::any_of(stages, [](const StageReport &stage) {
        return stage.pushedBytes > 0;
      })) {
    addBytes("pushed to the server", &StageReport::pushedBytes);
    addBytes("pulled from it", &StageReport::pushedBytes);
  }
  addRow("in flight", [](const StageReport &stage) {
    return std::to_string(stage.inFlight);
  });
  if (llvm::all_of(stages, [](const StageReport &stage) {
        return stage.deviceWork.has_value();
      })) {
    auto addCount = [&](StringRef name, int64_t DeviceWork::*field) {
      addRow(name, [=](const StageReport &stage) {
        return std::to_string((*stage.deviceWork).*field);
      });
    };
    addCount("device functions launched", &DeviceWork::functions);
    addCount("library calls", &DeviceWork::libraryCalls);
    addCount("copies and fills", &DeviceWork::copies);
    addRow("bytes moved", [](const StageReport &stage) {
      return formatBytes(stage.deviceWork->getBytes());
    });
    addRow("bytes moved by kernels", [](const StageReport &stage) {
      return formatBytes(stage.deviceWork->kernelBytes);
    });
    addRow("fewest bytes", [](const StageReport &stage) {
      return formatBytes(stage.deviceWork->fewestBytes);
    });
    addRow("moved / fewest", [](const StageReport &stage) {
      const DeviceWork &work = *stage.deviceWork;
      return llvm::formatv("{0:f2}", double(work.getBytes()) /
                                         std::max<int64_t>(work.fewestBytes, 1))
          .str();
    });
  }

  // Traffic: one row for each kind that some stage has.
  auto describe = [](const Traffic *traffic) {
    return traffic ? std::to_string(traffic->count) + " x, " +
                         formatBytes(traffic->bytes)
                   : std::string("-");
  };
  auto addTrafficRows = [&](auto member, auto name) {
    std::decay_t<decltype(stages.front().*member)> all;
    for (const StageReport &stage : stages)
      for (auto &[key, traffic] : stage.*member)
        all[key] = traffic;
    for (auto &entry : all)
      addRow(name(entry.first), [&](const StageReport &stage) {
        auto it = (stage.*member).find(entry.first);
        return describe(it == (stage.*member).end() ? nullptr : &it->second);
      });
  };
  addTrafficRows(&StageReport::collectives,
                 [](const CollectiveClass &own) { return own.getName(); });
  addTrafficRows(&StageReport::sends, [](int64_t stage) {
    return "send to stage " + std::to_string(stage);
  });
  addTrafficRows(&StageReport::recvs, [](int64_t stage) {
    return "receive from stage " + std::to_string(stage);
  });

  for (size_t i = 0; i < stages.front().programs.size(); ++i) {
    const ProgramTraffic &program = stages.front().programs[i];
    std::set<CollectiveClass> all;
    for (const StageReport &stage : stages)
      for (auto &[own, traffic] : stage.programs[i].collectives)
        all.insert(own);
    for (const CollectiveClass &own : all)
      addRow((own.getName() + ", " + program.name + ", every " +
              formatCount(program.period, "step")),
             [&](const StageReport &stage) {
               const auto &collectives = stage.programs[i].collectives;
               auto found = collectives.find(own);
               return describe(found == collectives.end() ? nullptr
                                                          : &found->second);
             });
  }

  printTable(rows, os);
  if (!times.empty())
    printTimes(getSlowestRanks(), os);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static json::Object describeCollective(const CollectiveClass &own) {
  return json::Object{{"kind", getTraits(own.kind).name},
                      {"axes", json::Array(own.axes)}};
}

static json::Array
describeAll(const std::map<CollectiveClass, Traffic> &collectives) {
  json::Array list;
  for (auto &[name, traffic] : collectives) {
    json::Object entry = describeCollective(name);
    entry["count"] = traffic.count;
    entry["bytes"] = traffic.bytes;
    list.push_back(std::move(entry));
  }
  return list;
}

static json::Object describeTime(const RankTime &time) {
  json::Array collectives, sends;
  for (auto &[name, seconds] : time.collectives) {
    collectives.push_back(describeCollective(name));
    (*collectives.back().getAsObject())["seconds"] = seconds;
  }
  for (auto &[stage, seconds] : time.sends)
    sends.push_back(json::Object{{"stage", stage}, {"seconds", seconds}});
  return json::Object{{"rank", time.rank},
                      {"stage", time.stage},
                      {"node", time.node},
                      {"compute_seconds", time.compute},
                      {"communication_seconds", time.getCommunication()},
                      {"collectives", std::move(collectives)},
                      {"sends", std::move(sends)}};
}

/// Raised when a key changes its meaning or is removed, not when one is added.
constexpr int64_t reportSchema = 1;

json::Value Report::toJson() const {
  json::Array list;
  for (const StageReport &stage : stages) {
    auto describe = [](const Traffic &traffic) {
      return json::Object{{"count", traffic.count}, {"bytes", traffic.bytes}};
    };
    json::Array sends, recvs, programs;
    for (const ProgramTraffic &program : stage.programs)
      programs.push_back(
          json::Object{{"name", program.name},
                       {"period", program.period},
                       {"turn", program.turn},
                       {"collectives", describeAll(program.collectives)}});
    auto addMessages = [&](const std::map<int64_t, Traffic> &messages,
                           json::Array &array) {
      for (auto &[peer, traffic] : messages) {
        json::Object entry = describe(traffic);
        entry["stage"] = peer;
        array.push_back(std::move(entry));
      }
    };
    addMessages(stage.sends, sends);
    addMessages(stage.recvs, recvs);
    json::Object entry{
        {"parameters", stage.parameters},
        {"flops", json::Object{{"forward", stage.forwardFlops},
                               {"backward", stage.backwardFlops},
                               {"weight", stage.weightFlops},
                               {"once", stage.onceFlops}}},
        {"bytes", json::Object{{"parameters", stage.parameterBytes},
                               {"state", stage.stateBytes},
                               {"gradients", stage.gradientBytes},
                               {"inputs", stage.inputBytes},
                               {"gathered", stage.gatheredBytes},
                               {"pushed", stage.pushedBytes},
                               {"activations", stage.activationBytes},
                               {"reserved", stage.reservedBytes},
                               {"peak", stage.peakBytes},
                               {"host", stage.hostBytes},
                               {"host_read", stage.hostReadBytes},
                               {"host_written", stage.hostWrittenBytes}}},
        {"collectives", describeAll(stage.collectives)},
        {"programs", std::move(programs)},
        {"sends", std::move(sends)},
        {"recvs", std::move(recvs)},
        {"in_flight", stage.inFlight}};
    if (const std::optional<DeviceWork> &work = stage.deviceWork)
      entry["device"] = json::Object{{"functions", work->functions},
                                     {"library_calls", work->libraryCalls},
                                     {"copies", work->copies},
                                     {"kernel_bytes", work->kernelBytes},
                                     {"library_bytes", work->libraryBytes},
                                     {"copy_bytes", work->copyBytes},
                                     {"fewest_bytes", work->fewestBytes}};
    list.push_back(std::move(entry));
  }
  json::Array axes;
  for (auto &[name, size] : mesh)
    axes.push_back(json::Object{{"name", name}, {"size", size}});
  json::Array paddedList;
  for (const PaddedParameter &own : padded)
    paddedList.push_back(json::Object{{"name", own.name},
                                      {"dim", own.dim},
                                      {"size", own.size},
                                      {"padded_size", own.paddedSize}});
  json::Object report{{"schema", reportSchema},
                      {"padded", std::move(paddedList)},
                      {"parameters", parameters},
                      {"attention_blocks", attentionBlocks},
                      {"microbatches", microbatches},
                      {"rounds", rounds},
                      {"kernels", kernels},
                      {"launches", launches},
                      {"ranks_per_stage", ranksPerStage},
                      {"bubble", bubble},
                      {"bubble_simulated", bubbleSimulated},
                      {"model_flops", modelFlops},
                      {"costs", isMeasured ? "measured" : "estimated"},
                      {"stages", std::move(list)},
                      {"mesh", std::move(axes)}};
  if (!expected.empty()) {
    json::Array list;
    for (const ExpectedTime &time : expected) {
      json::Object entry{{"numbers", time.numbers},
                         {"seconds", time.seconds},
                         {"samples_per_second", samples / time.seconds},
                         {"mfu", getUtilization(time)}};
      if (tokens > 0)
        entry["tokens_per_second"] = tokens / time.seconds;
      list.push_back(std::move(entry));
    }
    report["expected"] = std::move(list);
  }
  if (!times.empty()) {
    json::Array ranks;
    for (const RankTime &time : times)
      ranks.push_back(describeTime(time));
    report["ranks"] = std::move(ranks);
  }
  return report;
}
