//===- Trace.cpp - times of a rank in recorded steps ----------------------===//
//
// One file for all ranks. Each rank is a process with a row of stage functions,
// a row of communication calls, and rows for operations in flight.
//
//===----------------------------------------------------------------------===//

#include "Trace.h"

#include "Core/Error.h"
#include "dtc/Support/TraceThread.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace dtc::rt;
using Json = nlohmann::ordered_json;

Trace::Trace(const Program &program, Collectives &collectives, std::string path,
             std::string profilePath, int64_t first, int64_t last,
             size_t capacity)
    : program(program), collectives(collectives), path(std::move(path)),
      profilePath(std::move(profilePath)), first(first), last(last),
      capacity(capacity),
      ops(program, this->profilePath.empty() ? 0 : capacity),
      offsets(size_t(collectives.size()), 0) {
  events.reserve(capacity);
  started.reserve(capacity);
  if (collectives.rank() > 0)
    return;
  if (!this->profilePath.empty() && this->profilePath != "-")
    profileFile = RecordFile(this->profilePath, /*append=*/false);
  if (this->path.empty())
    return;
  file.reset(fopen(this->path.c_str(), "we"));
  if (!file)
    fail("cannot create '%s': %s", this->path.c_str(), strerror(errno));
}

/// Rank 0 asks each rank for its time, which was read between question and
/// receipt. Ranks of one machine share a clock, so an offset counts only if the
/// fastest answer proves it.
void Trace::alignClocks() {
  constexpr int numQuestions = 10;
  collectives.barrier();
  int64_t time = 0;
  if (collectives.rank() > 0) {
    for (int i = 0; i < numQuestions; ++i) {
      collectives.recvData(0, &time, sizeof time);
      time = hostTime();
      collectives.sendData(0, &time, sizeof time);
    }
    return;
  }
  for (int rank = 1; rank < collectives.size(); ++rank) {
    int64_t fastest = std::numeric_limits<int64_t>::max();
    for (int i = 0; i < numQuestions; ++i) {
      int64_t asked = hostTime();
      collectives.sendData(rank, &asked, sizeof asked);
      collectives.recvData(rank, &time, sizeof time);
      int64_t answered = hostTime();
      if (answered - asked >= fastest)
        continue;
      fastest = answered - asked;
      bool proved = time < asked || time > answered;
      offsets[rank] = proved ? time - (asked + answered) / 2 : 0;
    }
  }
}

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

void Trace::beginStep(int64_t number) {
  if (deviceClock)
    deviceClock->begin();
  step = number;
  stepBegin = events.size();
  run = -1;
  ops.beginStep();
}

void Trace::endStep() {
  for (int64_t event : started)
    events[event].end = mark();
  started.clear();
  for (size_t i = stepBegin; deviceClock && i < events.size(); ++i)
    for (int64_t *time : {&events[i].begin, &events[i].end})
      *time = deviceClock->timeOf(*time);
  if (full)
    return;
  ++wholeSteps;
  ops.endStep(deviceClock);
}

void Trace::dropStep() {
  full = true;
  events.resize(std::min(events.size(), stepBegin));
  started.clear();
}

int64_t Trace::begin(TraceEvent::Kind kind, int32_t subject, int64_t bytes,
                     int32_t microbatch, int32_t slot) {
  if (full || events.size() == capacity) {
    dropStep();
    return -1;
  }
  int64_t event = int64_t(events.size());
  if (slot >= 0)
    started.push_back(event);
  events.push_back({mark(), -1, bytes, step, kind, subject, microbatch, slot,
                    CollectiveKind::AllReduce});
  return event;
}

int64_t Trace::begin(CollectiveKind kind, int32_t group, int64_t bytes,
                     int32_t slot) {
  int64_t event =
      begin(TraceEvent::collective, group, bytes, /*microbatch=*/-1, slot);
  if (event >= 0)
    events[event].collectiveKind = kind;
  return event;
}

int64_t Trace::beginWait(int64_t started) {
  TraceEvent what = events[started];
  if (what.kind == TraceEvent::send)
    return begin(TraceEvent::waitForSend, what.subject, what.bytes);
  if (what.kind == TraceEvent::recv)
    return begin(TraceEvent::waitForRecv, what.subject, what.bytes);
  int64_t event =
      begin(TraceEvent::waitForCollective, what.subject, what.bytes);
  if (event >= 0)
    events[event].collectiveKind = what.collectiveKind;
  return event;
}

void Trace::end(int64_t event) {
  // A dropped step has removed its events.
  if (full || event < 0)
    return;
  events[event].end = mark();
  if (events[event].slot >= 0)
    started.erase(std::find(started.begin(), started.end(), event));
}

int64_t Trace::findStarted(int32_t slot) const {
  for (size_t i = started.size(); i-- > 0;)
    if (events[started[i]].slot == slot)
      return started[i];
  return -1;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The events of one rank, on rank 0's clock.
struct Trace::RankEvents {
  int64_t wholeSteps;
  std::vector<TraceEvent> events;
};

Trace::RankEvents Trace::receive(int rank) const {
  if (rank == 0)
    return {wholeSteps, events};
  int64_t header[2];
  collectives.recvData(rank, header, sizeof header);
  RankEvents result{header[0], std::vector<TraceEvent>(size_t(header[1]))};
  collectives.recvData(rank, result.events.data(),
                       header[1] * int64_t(sizeof(TraceEvent)));
  for (TraceEvent &event : result.events) {
    event.begin -= offsets[rank];
    event.end -= offsets[rank];
  }
  return result;
}

/// "F" and "1" of "F.1".
static std::pair<std::string, std::string>
splitFunction(const std::string &name) {
  size_t dot = std::min(name.find('.'), name.size());
  return {name.substr(0, dot), name.substr(std::min(dot + 1, name.size()))};
}

/// The words are those of the compiler's report.
std::string Trace::nameOf(const TraceEvent &event) const {
  auto withAxes = [&](const char *prefix) {
    std::string name = prefix;
    name += getTraits(event.collectiveKind).name;
    const char *separator = " ";
    for (int axis : program.groups.at(event.subject)) {
      name += separator + program.mesh.axes[axis].name;
      separator = ",";
    }
    return name;
  };
  switch (event.kind) {
  case TraceEvent::load:
    return "load";
  case TraceEvent::function: {
    auto [kind, chunk] = splitFunction(program.functions.at(event.subject));
    if (event.microbatch >= 0)
      kind += std::to_string(event.microbatch);
    return chunk.empty() ? kind : kind + "." + chunk;
  }
  case TraceEvent::collective:
    return withAxes("");
  case TraceEvent::send:
    return format("send to stage %d", event.subject);
  case TraceEvent::recv:
    return format("receive from stage %d", event.subject);
  case TraceEvent::waitForCollective:
    return withAxes("wait for ");
  case TraceEvent::waitForSend:
    return format("wait for send to stage %d", event.subject);
  case TraceEvent::waitForRecv:
    return format("wait for receive from stage %d", event.subject);
  }
  return {};
}

/// Rows of a rank. Operations in flight may overlap, so each takes the first
/// free row from `inFlightRow` on.
enum Row { functionRow, communicationRow, inFlightRow };

void Trace::print(const RankEvents &own, int rank, int64_t zero,
                  const char *&separator) const {
  auto printLine = [&](const Json &line) {
    fprintf(file.get(), "%s\n%s", separator, line.dump().c_str());
    separator = ",";
  };
  auto printMetadata = [&](const char *what, int row, const char *key,
                           const Json &value) {
    printLine({{"name", what},
               {"ph", "M"},
               {"pid", rank},
               {"tid", dtc::getTraceThread(rank, row)},
               {"args", {{key, value}}}});
  };
  printMetadata("process_name", 0, "name", program.mesh.describeRank(rank));
  printMetadata("process_sort_index", 0, "sort_index", rank);
  printMetadata("thread_name", functionRow, "name", "stage functions");
  printMetadata("thread_name", communicationRow, "name", "communication");

  std::vector<int64_t> freeFrom; // when each row of what is in flight is free
  for (const TraceEvent &event : own.events) {
    bool isFunction =
        event.kind == TraceEvent::function || event.kind == TraceEvent::load;
    size_t row = isFunction ? functionRow : communicationRow;
    if (event.slot >= 0) {
      auto found =
          std::find_if(freeFrom.begin(), freeFrom.end(),
                       [&](int64_t time) { return time <= event.begin; });
      if (found == freeFrom.end()) {
        printMetadata("thread_name", inFlightRow + int(freeFrom.size()), "name",
                      "in flight");
        found = freeFrom.insert(found, 0);
      }
      *found = event.end;
      row = inFlightRow + size_t(found - freeFrom.begin());
    }
    Json arguments = {{"step", event.step}};
    std::string category = isFunction ? "load" : "communication";
    if (event.microbatch >= 0)
      arguments["microbatch"] = event.microbatch;
    if (event.kind == TraceEvent::function) {
      auto [kind, chunk] = splitFunction(program.functions.at(event.subject));
      category = kind;
      if (!chunk.empty())
        arguments["chunk"] = std::stoi(chunk);
    }
    if (!isFunction)
      arguments["bytes"] = event.bytes;
    printLine({{"name", nameOf(event)},
               {"cat", category},
               {"ph", "X"},
               {"pid", rank},
               {"tid", dtc::getTraceThread(rank, row)},
               {"ts", double(event.begin - zero) / 1000},
               {"dur", double(event.end - event.begin) / 1000},
               {"args", arguments}});
  }
}

/// The properties of the plan that a compiler needs to use the times for
/// another plan.
static Json describePlan(const Program &program) {
  Json mesh = Json::array(), stages = Json::array();
  for (const Mesh::Axis &axis : program.mesh.axes)
    mesh.push_back({{"name", axis.name}, {"size", axis.size}});
  for (const Stage &stage : program.stages) {
    Json names = Json::array();
    for (const Stage::Parameter &parameter : stage.parameters)
      names.push_back(program.parameters[parameter.index].name);
    stages.push_back({{"parameters", names}});
  }
  return {{"model", program.model},
          {"dtype", program.dtype},
          {"mesh", mesh},
          {"microbatches", program.microbatches},
          {"rows", program.blockRows()},
          {"stages", stages}};
}

std::vector<Trace::RankEvents> Trace::gather() {
  if (collectives.rank() > 0) {
    int64_t header[2] = {wholeSteps, int64_t(events.size())};
    collectives.sendData(0, header, sizeof header);
    collectives.sendData(0, events.data(),
                         header[1] * int64_t(sizeof(TraceEvent)));
    return {};
  }
  std::vector<RankEvents> ranks;
  int64_t asked = std::max<int64_t>(last - first + 1, 0);
  stepsOfAll = asked;
  for (int rank = 0; rank < collectives.size(); ++rank) {
    ranks.push_back(receive(rank));
    stepsOfAll = std::min(stepsOfAll, ranks.back().wholeSteps);
  }
  // A step is recorded completely or not at all.
  for (RankEvents &own : ranks)
    std::erase_if(own.events, [&](const TraceEvent &event) {
      return event.step >= first + stepsOfAll;
    });
  if (stepsOfAll < asked)
    printf("note: the %s '%s' has %lld of %lld steps; the next would be more "
           "than %zu events of a rank\n",
           path.empty() ? "profile" : "trace",
           (path.empty() ? profilePath : path).c_str(), (long long)stepsOfAll,
           (long long)asked, capacity);
  return ranks;
}

std::string Trace::writeTrace(const std::vector<RankEvents> &ranks) {
  int64_t zero = std::numeric_limits<int64_t>::max();
  for (const RankEvents &own : ranks)
    for (const TraceEvent &event : own.events)
      zero = std::min(zero, event.begin);
  Json other = describePlan(program);
  other["steps"] = Json::array();
  for (int64_t i = 0; i < stepsOfAll; ++i)
    other["steps"].push_back(first + i);
  fprintf(file.get(),
          "{\"displayTimeUnit\": \"ms\", \"otherData\": %s,\n"
          "\"traceEvents\": [",
          other.dump().c_str());
  const char *separator = "";
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    print(ranks[rank], int(rank), zero, separator);
  fprintf(file.get(), "\n]}\n");
  bool failed = ferror(file.get());
  if (!fclose(file.release()) && !failed)
    return {};
  int error = errno;
  (void)!truncate(path.c_str(), 0); // a part is no JSON
  return format("cannot write '%s': %s; there is no trace; training continues",
                path.c_str(), strerror(error));
}

Profile Trace::makeProfile(const std::vector<RankEvents> &ranks) const {
  std::vector<std::string> names;
  names.reserve(ranks.size());
  for (size_t rank = 0; rank < ranks.size(); ++rank)
    names.push_back(program.mesh.describeRank(int(rank)));
  Profile profile(names, stepsOfAll);
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    std::map<int64_t, std::pair<int64_t, int64_t>> steps; // begin and end
    for (const TraceEvent &event : ranks[rank].events) {
      bool isFunction = event.kind == TraceEvent::function;
      auto kind = event.slot >= 0 ? Profile::Kind::inFlight
                  : isFunction || event.kind == TraceEvent::load
                      ? Profile::Kind::compute
                      : Profile::Kind::communicate;
      std::string name =
          isFunction ? program.functions.at(event.subject) : nameOf(event);
      if (event.slot >= 0)
        name += ", in flight";
      // A wait covers only the rest of the transfer's time, so its bytes
      // divided by that time are not a rate.
      profile.add(int(rank), name, kind, double(event.end - event.begin) / 1e9,
                  event.isWait() ? 0 : event.bytes);
      auto &[begin, end] =
          steps.try_emplace(event.step, event.begin, event.end).first->second;
      end = std::max(end, event.end);
    }
    for (auto &[number, span] : steps)
      profile.addStep(int(rank), double(span.second - span.first) / 1e9);
  }
  return profile;
}

Trace::Written Trace::write() {
  std::vector<RankEvents> ranks = gather();
  std::vector<OpTime> opTimes;
  if (!profilePath.empty())
    opTimes = ops.gather(collectives, wholeSteps);
  Written written;
  if (collectives.rank() > 0)
    return written;
  if (file)
    if (std::string warning = writeTrace(ranks); !warning.empty())
      written.warnings.push_back(warning);
  if (profilePath.empty())
    return written;
  Profile profile = makeProfile(ranks);
  std::string table = profile.describe();
  if (stepsOfAll > 0)
    table += describeOps(program.ops, opTimes, profile.stepSeconds());
  if (profilePath == "-")
    written.table = table;
  else if (std::string warning = profileFile.writeAlone(
               table, "there is no profile, which --profile - prints");
           !warning.empty())
    written.warnings.push_back(warning);
  return written;
}
