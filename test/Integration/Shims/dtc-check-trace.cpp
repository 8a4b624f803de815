//===- dtc-check-trace.cpp - a trace of ranks against what was planned ----===//
//
// Reads what a program wrote with --trace, and dtc with --timeline FILE.json
// and --report-json. Exits 1 when they differ.
//
//===----------------------------------------------------------------------===//

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
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

struct Event {
  std::string name;
  double begin, end;
  int64_t step, bytes;
};

/// The events of one rank.
struct Rank {
  size_t stage = 0;
  std::map<int, std::vector<Event>> rows; ///< in order of time
};

/// "rank 1 (pp 0, dp 1)": 0, if the number is right.
size_t stageOf(const std::string &name, size_t rank) {
  std::string expected = "rank " + std::to_string(rank) + " (";
  size_t at = name.find("pp ");
  if (name.compare(0, expected.size(), expected) != 0 ||
      at == std::string::npos)
    throw std::runtime_error("found process '" + name + "', expected '" +
                             expected + "...'");
  return std::stoul(name.substr(at + 3));
}

/// Threads of a process are numbered by its number and the row.
int rowOf(const json &event) {
  int row =
      event.at("tid").get<int>() - 1000 * (event.at("pid").get<int>() + 1);
  if (row < 0 || row >= 1000)
    throw std::runtime_error("a thread that is of another process: " +
                             event.dump());
  return row;
}

std::vector<Rank> readRanks(const json &trace) {
  std::map<size_t, Rank> ranks;
  for (const json &event : trace.at("traceEvents")) {
    auto number = event.at("pid").get<size_t>();
    Rank &rank = ranks[number];
    if (event.at("ph") == "M") {
      if (event.at("name") == "process_name")
        rank.stage = stageOf(event.at("args").at("name"), number);
      continue;
    }
    auto begin = event.at("ts").get<double>();
    const json &arguments = event.at("args");
    rank.rows[rowOf(event)].push_back(
        {event.at("name"), begin, begin + event.at("dur").get<double>(),
         arguments.at("step"), arguments.value("bytes", int64_t(0))});
  }
  std::vector<Rank> list;
  for (auto &[number, rank] : ranks) {
    if (number != list.size())
      throw std::runtime_error("no rank " + std::to_string(list.size()));
    for (auto &[row, events] : rank.rows)
      std::sort(
          events.begin(), events.end(),
          [](const Event &a, const Event &b) { return a.begin < b.begin; });
    list.push_back(std::move(rank));
  }
  return list;
}

bool isTask(const std::string &name) {
  return name.size() > 1 &&
         std::string("FBW").find(name[0]) != std::string::npos &&
         name.find_first_not_of("0123456789.", 1) == std::string::npos;
}

/// The tasks of each stage in the order of its schedule.
std::vector<std::vector<std::string>> readSchedule(const json &timeline) {
  std::vector<std::vector<std::string>> tasks(
      timeline.at("otherData").at("stages").get<size_t>());
  for (const json &event : timeline.at("traceEvents"))
    if (event.at("ph") == "X" && rowOf(event) == 0)
      tasks.at(event.at("pid")).push_back(event.at("name"));
  return tasks;
}

/// Calls and bytes of a step, by the name of the call.
using Traffic = std::map<std::string, std::pair<int64_t, int64_t>>;

Traffic plannedTraffic(const json &stage) {
  Traffic traffic;
  auto add = [&](const std::string &name, const json &entry) {
    traffic[name] = {entry.at("count"), entry.at("bytes")};
  };
  for (const json &entry : stage.at("collectives")) {
    std::string name = entry.at("kind");
    for (const json &axis : entry.at("axes"))
      name += (name == entry.at("kind") ? " " : ",") + axis.get<std::string>();
    add(name, entry);
  }
  auto peerOf = [](const json &entry) {
    return " stage " + std::to_string(entry.at("stage").get<int>());
  };
  for (const json &entry : stage.at("sends"))
    add("send to" + peerOf(entry), entry);
  for (const json &entry : stage.at("recvs"))
    add("receive from" + peerOf(entry), entry);
  return traffic;
}

/// The traffic of a stage in the timeline.
Traffic drawnTraffic(const json &timeline, size_t stage) {
  Traffic traffic;
  for (const json &event : timeline.at("traceEvents"))
    if (event.at("ph") == "X" && rowOf(event) == 1 &&
        event.at("pid") == stage) {
      auto &[calls, bytes] = traffic[event.at("name")];
      calls += event.at("args").at("count").get<int64_t>();
      bytes += event.at("args").at("bytes").get<int64_t>();
    }
  return traffic;
}

class Check {
public:
  /// Prints a failure.
  void expect(bool holds, size_t rank, const std::string &what) {
    if (holds)
      return;
    std::printf("FAIL: rank %zu: %s\n", rank, what.c_str());
    failed = true;
  }
  bool failed = false;
};

std::string join(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("compares what ranks did with what was planned");
  std::string tracePath, timelinePath, reportPath;
  int64_t first = 0, last = 0;
  app.add_option("trace", tracePath)->required();
  app.add_option("--timeline", timelinePath)->required();
  app.add_option("--report", reportPath)->required();
  app.add_option("--first", first, "step")->required();
  app.add_option("--last", last, "step")->required();
  CLI11_PARSE(app, argc, argv);
  try {
    json report = readJson(reportPath);
    std::vector<Rank> ranks = readRanks(readJson(tracePath));
    json timeline = readJson(timelinePath);
    auto schedule = readSchedule(timeline);
    size_t expected =
        report.at("ranks_per_stage").get<size_t>() * schedule.size();
    if (ranks.size() != expected)
      throw std::runtime_error("found " + std::to_string(ranks.size()) +
                               " ranks, expected " + std::to_string(expected));
    Check check;
    size_t numEvents = 0;
    for (size_t number = 0; number < ranks.size(); ++number) {
      Rank &rank = ranks[number];
      std::map<int64_t, std::vector<std::string>> tasks;
      std::map<int64_t, Traffic> traffic;
      for (auto &[row, events] : rank.rows) {
        numEvents += events.size();
        for (size_t i = 0; i < events.size(); ++i) {
          const Event &event = events[i];
          check.expect(event.begin >= 0 && event.end >= event.begin, number,
                       event.name + " ends before it begins");
          check.expect(i == 0 || events[i - 1].end <= event.begin + 1e-3,
                       number, event.name + " overlaps the one before");
          check.expect(event.step >= first && event.step <= last, number,
                       event.name + " in step " + std::to_string(event.step));
          if (row == 0 && isTask(event.name))
            tasks[event.step].push_back(event.name);
          if (row > 0 && event.name.rfind("wait", 0) != 0) {
            auto &[calls, bytes] = traffic[event.step][event.name];
            ++calls;
            bytes += event.bytes;
          }
        }
      }
      const json &stage = report.at("stages").at(rank.stage);
      check.expect(drawnTraffic(timeline, rank.stage) == plannedTraffic(stage),
                   number,
                   "communication of the timeline is not that of the report");
      for (int64_t step = first; step <= last; ++step) {
        check.expect(tasks[step] == schedule.at(rank.stage), number,
                     "found " + join(tasks[step]) + ", expected " +
                         join(schedule.at(rank.stage)));
        check.expect(traffic[step] == plannedTraffic(stage), number,
                     "communication is not that of the report: " +
                         json(traffic[step]).dump());
      }
    }
    if (!check.failed)
      std::printf("ok: %zu ranks, %zu events, in the order of the schedule\n",
                  ranks.size(), numEvents);
    return check.failed;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "dtc-check-trace: error: %s: %s\n", tracePath.c_str(),
                 error.what());
    return 1;
  }
}
