//===- dtc-check-observed.cpp - what ranks did against what was planned ---===//
//
// Reads the records that libdtc-observer.so wrote and the reports of dtc
// (--report-json). Exits 1 when they differ.
//
//===----------------------------------------------------------------------===//

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>
#include <tuple>

using nlohmann::json;

namespace {

json readJson(const std::string &path) {
  std::ifstream stream(path);
  if (!stream)
    throw std::runtime_error("cannot open '" + path + "'");
  return json::parse(stream);
}

/// The records of all ranks, by rank. Ranks without steps write none: of
/// `ranks` ranks, those that are missing had none.
std::vector<json> readRecords(const std::string &path, size_t ranks = 0) {
  std::ifstream stream(path);
  if (!stream)
    throw std::runtime_error("cannot open '" + path + "'");
  std::map<int, json> byRank;
  for (std::string line; std::getline(stream, line);) {
    json record = json::parse(line);
    if (!byRank.emplace(record.at("rank"), record).second)
      throw std::runtime_error("two records of one rank in '" + path + "'");
  }
  for (size_t rank = 0; rank < ranks; ++rank)
    byRank.emplace(
        int(rank),
        json{{"rank", rank}, {"steps", 0}, {"communication", json::array()}});
  std::vector<json> records;
  for (auto &[rank, record] : byRank) {
    if (rank != int(records.size()))
      throw std::runtime_error("no record of rank " +
                               std::to_string(records.size()) + " in '" + path +
                               "'");
    records.push_back(std::move(record));
  }
  return records;
}

/// Calls on a communicator: with the peer of a message, or -1.
using Key = std::tuple<std::string, std::string, int>;
using Traffic = std::map<Key, std::pair<int64_t, int64_t>>;

Traffic observedTraffic(const json &record) {
  Traffic traffic;
  for (const json &entry : record.at("communication"))
    traffic[{entry.at("communicator"), entry.at("call"), entry.at("peer")}] = {
        entry.at("count"), entry.at("bytes")};
  return traffic;
}

std::string callOf(const std::string &kind) {
  if (kind == "all_reduce")
    return "MPI_Allreduce";
  if (kind == "reduce_scatter")
    return "MPI_Reduce"; // one for each member
  if (kind == "all_gather")
    return "MPI_Allgather";
  if (kind == "all_to_all")
    return "MPI_Alltoall";
  if (kind == "collective_permute")
    return "MPI_Sendrecv";
  throw std::runtime_error("unknown collective '" + kind + "' in the report");
}

/// Members of a communicator that a rank was seen to use; else 1.
int64_t membersOf(const json &record, const std::string &communicator) {
  for (const json &entry : record.at("communication"))
    if (entry.at("communicator") == communicator)
      return entry.at("members");
  return 1;
}

/// Each rank of a worker gets parameters from the rank of the server that
/// differs from it on dp alone, and pushes as much. The first rank of a worker
/// sends rank 0 a notice before.
void addServer(const json &report, int rank, int64_t pushed, int64_t steps,
               Traffic &traffic) {
  if (pushed == 0 || steps == 0)
    return;
  constexpr int64_t noticeBytes = 40;
  int stride = 1, position = 0;
  for (auto axis = report.at("mesh").rbegin(); axis != report.at("mesh").rend();
       ++axis) {
    auto size = axis->at("size").get<int>();
    if (axis->at("name") == "dp") {
      position = rank / stride % size;
      break;
    }
    stride *= size;
  }
  int server = rank - position * stride;
  bool notifies = server == 0;
  traffic[{"dtc.control", "MPI_Recv", server}] = {steps, steps * pushed};
  traffic[{"dtc.control", "MPI_Send", server}] = {
      steps * (notifies ? 2 : 1),
      steps * (pushed + (notifies ? noticeBytes : 0))};
}

/// The report's numbers of a rank. Ranks are numbered row-major over the mesh,
/// and messages go to the rank in the same place of another stage.
Traffic plannedTraffic(const json &report, int rank, const json &record) {
  auto steps = record.at("steps").get<int64_t>();
  int stride = 1; // between ranks of neighbouring stages
  for (auto axis = report.at("mesh").rbegin(); axis->at("name") != "pp"; ++axis)
    stride *= axis->at("size").get<int>();
  const json &stages = report.at("stages");
  int ownStage = rank / stride % int(stages.size());
  const json &stage = stages.at(size_t(ownStage));
  Traffic traffic;
  auto add = [&](const Key &key, const json &entry, int64_t runs,
                 int64_t calls = 1) {
    auto &[count, bytes] = traffic[key];
    count += entry.at("count").get<int64_t>() * runs * calls;
    bytes += entry.at("bytes").get<int64_t>() * runs;
  };
  auto addCollectives = [&](const json &entries, int64_t runs) {
    for (const json &entry : entries) {
      std::string communicator = "dtc";
      for (const json &axis : entry.at("axes"))
        communicator += "." + axis.get<std::string>();
      std::string call = callOf(entry.at("kind"));
      if (runs > 0)
        add({communicator, call, -1}, entry, runs,
            call == "MPI_Reduce" ? membersOf(record, communicator) : 1);
    }
  };
  addCollectives(stage.at("collectives"), steps);
  for (const json &program : stage.at("programs")) {
    auto period = program.at("period").get<int64_t>();
    auto turn = program.at("turn").get<int64_t>();
    int64_t runs = 0;
    for (int64_t step = 1; step <= steps; ++step)
      runs += step % period == turn;
    addCollectives(program.at("collectives"), runs);
  }
  auto addMessages = [&](const char *direction, const char *call) {
    for (const json &entry : stage.at(direction))
      add({"dtc.pipeline", call,
           rank + (entry.at("stage").get<int>() - ownStage) * stride},
          entry, steps);
  };
  addMessages("sends", "MPI_Isend");
  addMessages("recvs", "MPI_Irecv");
  addServer(report, rank, stage.at("bytes").at("pushed"), steps, traffic);
  return traffic;
}

struct Options {
  std::string observed, report;
  std::vector<std::string> runs;
  size_t first = 1, last = 1;
};

/// Every rank's calls and bytes are those of the report; nothing else.
int checkCommunication(const Options &options) {
  json report = readJson(options.report);
  size_t ranks =
      report.at("ranks_per_stage").get<size_t>() * report.at("stages").size();
  std::vector<json> records = readRecords(options.observed, ranks);
  if (records.size() != ranks)
    throw std::runtime_error("found records of " +
                             std::to_string(records.size()) +
                             " ranks, expected " + std::to_string(ranks));
  int64_t calls = 0, bytes = 0, wrong = 0;
  for (size_t rank = 0; rank < ranks; ++rank) {
    auto steps = records[rank].at("steps").get<int64_t>();
    Traffic observed = observedTraffic(records[rank]);
    Traffic planned = plannedTraffic(report, int(rank), records[rank]);
    Traffic both = observed;
    both.insert(planned.begin(), planned.end());
    for (const auto &entry : both) {
      auto [found, foundBytes] = observed[entry.first];
      auto [expected, expectedBytes] = planned[entry.first];
      calls += found;
      bytes += foundBytes;
      if (found == expected && foundBytes == expectedBytes)
        continue;
      ++wrong;
      const auto &[communicator, call, peer] = entry.first;
      std::printf("FAIL: rank %zu, %s on %s, peer %d: found %lld calls of %lld "
                  "bytes in %lld steps, expected %lld of %lld\n",
                  rank, call.c_str(), communicator.c_str(), peer,
                  (long long)found, (long long)foundBytes, (long long)steps,
                  (long long)expected, (long long)expectedBytes);
    }
  }
  if (calls == 0)
    throw std::runtime_error("no rank communicates");
  if (wrong == 0)
    std::printf("ok: %zu ranks, %lld calls, %lld bytes as planned\n", ranks,
                (long long)calls, (long long)bytes);
  return wrong != 0;
}

/// No rank allocates in steps first..last.
int checkAllocations(const Options &options) {
  std::vector<json> records = readRecords(options.observed);
  int64_t sum = 0;
  for (const json &record : records) {
    const json &counts = record.at("allocations");
    if (options.first == 0 || options.first > options.last)
      throw std::runtime_error("--last is before --first");
    if (options.last > counts.size())
      throw std::runtime_error("found " + std::to_string(counts.size()) +
                               " steps, expected " +
                               std::to_string(options.last));
    for (size_t step = options.first; step <= options.last; ++step)
      sum += counts.at(step - 1).get<int64_t>();
  }
  std::printf("%s: %lld allocations in steps %zu to %zu of %zu ranks\n",
              sum ? "FAIL" : "ok", (long long)sum, options.first, options.last,
              records.size());
  return sum != 0;
}

/// The most that any rank had resident above the baseline.
int64_t peakAbove(int64_t baseline, const std::string &path) {
  int64_t peak = 0;
  for (const json &record : readRecords(path))
    peak = std::max(peak, record.at("vm_hwm").get<int64_t>() - baseline);
  return peak;
}

/// The needs of a program's worst rank.
struct Needs {
  int64_t peak = 0;        ///< bytes resident above the baseline, as observed
  int64_t planned = 0;     ///< the same, as planned
  int64_t parameters = 0;  ///< bytes of those the program's file begins with
  int64_t activations = 0; ///< bytes of the planned that are activations
  int64_t flops = 0;
};

Needs getNeeds(int64_t baseline, const json &report,
               const std::string &records) {
  Needs needs;
  needs.peak = peakAbove(baseline, records);
  for (const json &stage : report.at("stages")) {
    const json &bytes = stage.at("bytes");
    needs.planned = std::max(needs.planned, bytes.at("peak").get<int64_t>());
    needs.parameters =
        std::max(needs.parameters, bytes.at("parameters").get<int64_t>());
    needs.activations =
        std::max(needs.activations, bytes.at("activations").get<int64_t>());
    int64_t sum = 0;
    for (const json &part : stage.at("flops"))
      sum += part.get<int64_t>();
    needs.flops = std::max(needs.flops, sum);
  }
  return needs;
}

/// From run to run the needs change as expected, and the peak is the planned
/// one, give or take 10 % and 8 MiB for MPI's own. The first values of the
/// parameters are mapped with the program, and count among what it touches.
int checkNeeds(const Options &options, const char *expected,
               bool (*isExpected)(const Needs &last, const Needs &next)) {
  constexpr int64_t mebibyte = 1 << 20;
  int64_t baseline =
      readRecords(options.observed).at(0).at("vm_hwm").get<int64_t>();
  if (options.runs.size() < 4 || options.runs.size() % 2)
    throw std::runtime_error("expected two or more pairs of files");
  Needs last;
  bool good = true;
  for (size_t i = 0; i < options.runs.size(); i += 2) {
    json report = readJson(options.runs[i]);
    Needs next = getNeeds(baseline, report, options.runs[i + 1]);
    bool changes = i == 0 || isExpected(last, next);
    bool asPlanned = std::abs(next.peak - next.planned) <=
                     next.planned / 10 + next.parameters + 8 * mebibyte;
    good = good && changes && asPlanned;
    std::string verdict = !changes     ? std::string("FAIL (") + expected + ")"
                          : !asPlanned ? "FAIL (not as planned)"
                                       : "ok";
    std::printf("%s: %zu stages: %.1f MiB above the baseline, planned %.1f "
                "MiB, %.1f MiB of activations; %.3f GFLOP\n",
                verdict.c_str(), report.at("stages").size(),
                double(next.peak) / mebibyte, double(next.planned) / mebibyte,
                double(next.activations) / mebibyte, double(next.flops) * 1e-9);
    last = next;
  }
  return !good;
}

int checkMemory(const Options &options) {
  return checkNeeds(options, "does not fall",
                    [](const Needs &last, const Needs &next) {
                      return next.peak < last.peak && next.flops < last.flops;
                    });
}

int checkRecompute(const Options &options) {
  return checkNeeds(options, "is no less memory for more work",
                    [](const Needs &last, const Needs &next) {
                      return next.peak < last.peak &&
                             next.activations < last.activations &&
                             next.flops > last.flops;
                    });
}

/// Each rank of a program of one stage has resident what is planned, give or
/// take 10 %, above the same rank of a program that is almost empty.
int checkPlanned(const Options &options) {
  json report = readJson(options.report);
  std::vector<json> baseline = readRecords(options.observed);
  std::vector<json> records = readRecords(options.runs.at(0));
  if (report.at("stages").size() != 1)
    throw std::runtime_error("expected a program of one stage");
  if (records.empty() || records.size() != baseline.size())
    throw std::runtime_error("found records of " +
                             std::to_string(records.size()) +
                             " ranks, expected as many as the baseline has, " +
                             std::to_string(baseline.size()));
  auto planned = report.at("stages")[0].at("bytes").at("peak").get<double>();
  std::vector<double> shares;
  shares.reserve(records.size());
  for (size_t rank = 0; rank < records.size(); ++rank)
    shares.push_back((records[rank].at("vm_hwm").get<double>() -
                      baseline[rank].at("vm_hwm").get<double>()) /
                     planned);
  auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  bool good = *least >= 0.9 && *most <= 1.1;
  std::printf("%s: %zu ranks, planned %.1f MiB above the baseline, found %.3f "
              "to %.3f times that\n",
              good ? "ok" : "FAIL", records.size(), planned / (1 << 20), *least,
              *most);
  return !good;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("compares what ranks were seen to do with what was planned");
  app.require_subcommand(1);
  Options options;
  int (*command)(const Options &) = nullptr;
  auto add = [&](const char *name, const char *description,
                 int (*function)(const Options &)) {
    CLI::App *sub = app.add_subcommand(name, description);
    sub->add_option("observed", options.observed, "records of the ranks")
        ->required();
    sub->callback([&command, function] { command = function; });
    return sub;
  };

  CLI::App *communication =
      add("communication", "calls and bytes with a report", checkCommunication);
  communication->add_option("report", options.report)->required();

  CLI::App *allocations =
      add("allocations", "none in some steps", checkAllocations);
  allocations->add_option("--first", options.first)->required();
  allocations->add_option("--last", options.last)->required();

  for (CLI::App *needs :
       {add("memory",
            "falling peak memory and work; the observed program is the "
            "baseline",
            checkMemory),
        add("recompute",
            "falling peak memory for rising work; the observed program is the "
            "baseline",
            checkRecompute)})
    needs->add_option("runs", options.runs, "REPORT OBSERVED ...")->required();

  CLI::App *planned =
      add("planned",
          "peak memory of each rank with a report; the observed program is the "
          "baseline",
          checkPlanned);
  planned->add_option("report", options.report)->required();
  planned->add_option("run", options.runs, "OBSERVED")->required()->expected(1);

  CLI11_PARSE(app, argc, argv);
  try {
    return command(options);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "dtc-check-observed: error: %s: %s\n",
                 options.observed.c_str(), error.what());
    return 1;
  }
}
