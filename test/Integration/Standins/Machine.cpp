//===- Machine.cpp - a GPU that a host pretends to have -------------------===//

#include "Machine.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>

using namespace dtc::standin;

void dtc::standin::fault(const char *pattern, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, pattern);
  vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  fprintf(stderr, "stand-in: %s\n", text);
  _Exit(3);
}

Machine &Machine::get() {
  static Machine machine;
  return machine;
}

Machine::Machine() {
  const char *seed = getenv("DTC_STANDIN_SEED");
  random.seed(seed ? strtoull(seed, nullptr, 10) : 1);
}

/// Writes how many operations there were of each kind, if it is asked.
Machine::~Machine() {
  const char *path = getenv("DTC_STANDIN_COUNTS");
  FILE *file = path ? fopen(path, "a") : nullptr;
  if (!file)
    return;
  for (const auto &[name, count] : counts)
    fprintf(file, "%s %llu\n", name.c_str(), (unsigned long long)count);
  fclose(file);
}

bool Machine::hasBug(const std::string &kind) {
  const char *bug = getenv("DTC_STANDIN_BUG");
  std::string place = kind + ":" + std::to_string(++asked[kind]);
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  return bug && (place == bug || place + ":" + (rank ? rank : "0") == bug);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static uint64_t toNumber(const void *address) {
  return reinterpret_cast<uint64_t>(address);
}

void *Machine::allocate(uint64_t bytes) {
  void *memory = nullptr;
  if (posix_memalign(&memory, 512, bytes) != 0)
    return nullptr;
  memset(memory, 0xff, bytes); // NaN
  allocations[toNumber(memory)] = toNumber(memory) + bytes;
  return memory;
}

void Machine::free(void *address) {
  auto found = allocations.find(toNumber(address));
  if (found == allocations.end())
    fault("frees %p, which is no allocation", address);
  for (const Stream &stream : streams)
    for (const Operation &operation : stream.waiting)
      for (const Access &access : operation.accesses)
        if (toNumber(access.address) < found->second &&
            toNumber(access.address) + access.bytes > found->first)
          fault("frees memory that '%s' still needs", operation.name.c_str());
  split(found->first);
  split(found->second);
  touches.erase(touches.lower_bound(found->first),
                touches.lower_bound(found->second));
  allocations.erase(found);
  ::free(address);
}

bool Machine::isAllocated(const void *address, uint64_t bytes) const {
  uint64_t begin = toNumber(address);
  auto next = allocations.upper_bound(begin);
  return next != allocations.begin() &&
         begin + bytes <= std::prev(next)->second;
}

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

static void merge(Clock &clock, const Clock &other) {
  for (const auto &[stream, number] : other)
    clock[stream] = std::max(clock[stream], number);
}

static bool isBefore(const Clock &earlier, const Clock &later) {
  for (const auto &[stream, number] : earlier) {
    auto found = later.find(stream);
    if (found == later.end() || found->second < number)
      return false;
  }
  return true;
}

/// Makes an address the begin of a range, if it is within one.
void Machine::split(uint64_t address) {
  auto next = touches.upper_bound(address);
  if (next == touches.begin())
    return;
  auto range = std::prev(next);
  if (range->first == address || range->second.end <= address)
    return;
  Touch rest = range->second;
  range->second.end = address;
  touches[address] = std::move(rest);
}

void Machine::noteAccess(const Operation &operation, const Access &access) {
  if (access.bytes == 0)
    return;
  uint64_t begin = toNumber(access.address), end = begin + access.bytes;
  split(begin);
  split(end);
  // Untouched memory gets its own ranges.
  for (uint64_t at = begin; at < end;) {
    auto next = touches.lower_bound(at);
    if (next != touches.end() && next->first == at) {
      at = next->second.end;
      continue;
    }
    uint64_t until = next == touches.end() ? end : std::min(end, next->first);
    touches[at] = {until, {}, {}, {}};
    at = until;
  }
  const Clock own = {{operation.stream, operation.number}};
  Clock upToNow = operation.before; // an operation may write what it reads
  merge(upToNow, own);
  auto expectBefore = [&](const std::string &other, const Clock &clock,
                          const char *does) {
    if (!isBefore(clock, upToNow))
      fault("'%s' %s %llu bytes at %p while '%s' %s them; no stream or event "
            "orders the two",
            operation.name.c_str(), access.writes ? "writes" : "reads",
            (unsigned long long)access.bytes, access.address, other.c_str(),
            does);
  };
  for (auto it = touches.find(begin); it != touches.end() && it->first < end;
       ++it) {
    Touch &touch = it->second;
    if (!touch.writer.empty())
      expectBefore(touch.writer, touch.written, "writes");
    if (!access.writes) {
      merge(touch.readers[operation.name], own);
      continue;
    }
    for (const auto &[reader, clock] : touch.readers)
      expectBefore(reader, clock, "reads");
    touch.readers.clear();
    touch.writer = operation.name;
    touch.written = own;
  }
}

/// Before it is done: all operations in the order of the streams have been
/// noted.
void Machine::check(const Operation &operation) {
  for (const Access &access : operation.accesses)
    if (access.bytes && !isAllocated(access.address, access.bytes))
      fault("'%s' %s %llu bytes at %p, which are not all allocated",
            operation.name.c_str(), access.writes ? "writes" : "reads",
            (unsigned long long)access.bytes, access.address);
  // Reads first: an operation may overwrite what it reads.
  for (bool writes : {false, true})
    for (const Access &access : operation.accesses)
      if (access.writes == writes)
        noteAccess(operation, access);
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

int Machine::createStream() {
  streams.emplace_back();
  return int(streams.size()) - 1;
}

void Machine::add(int stream, std::string name, std::vector<Access> accesses,
                  std::function<bool()> tryRun) {
  if (capture && captured.count(stream)) {
    std::vector<size_t> &after = captured[stream];
    capture->nodes.push_back({{std::move(name),
                               std::move(accesses),
                               std::move(tryRun),
                               {},
                               stream,
                               0},
                              after});
    after = {capture->nodes.size() - 1};
    return;
  }
  ++counts[name.substr(0, name.find(' '))];
  Stream &s = streams[size_t(stream)];
  merge(s.clock, seen);
  Operation operation{
      std::move(name), std::move(accesses), std::move(tryRun), s.clock, stream,
      ++s.added};
  check(operation);
  s.clock[stream] = s.added;
  s.waiting.push_back(std::move(operation));
}

Clock Machine::getClock(int stream) const {
  return streams[size_t(stream)].clock;
}

void Machine::record(Event &event, int stream) {
  if (isCaptured(stream)) {
    event.captureOf = captures;
    event.after = captured[stream];
  } else {
    event.captureOf = 0;
    event.reached = getClock(stream);
  }
}

Captured Machine::wait(int stream, const Event &event) {
  bool isOfCapture = capture && event.captureOf == captures;
  if (event.captureOf && !isOfCapture)
    return invalidate(Captured::event);
  if (!isOfCapture) {
    if (isCaptured(stream) && !event.reached.empty())
      return invalidate(Captured::isolation);
    merge(streams[size_t(stream)].clock, event.reached);
    return Captured::fine;
  }
  // The stream joins the capture, if it is not in it yet.
  std::vector<size_t> &after = captured[stream];
  after.insert(after.end(), event.after.begin(), event.after.end());
  return Captured::fine;
}

bool Machine::isDone(const Clock &clock) const {
  for (const auto &[stream, number] : clock)
    if (streams[size_t(stream)].done < number)
      return false;
  return true;
}

bool Machine::query(const Clock &clock) {
  if (!isDone(clock))
    return false;
  merge(seen, clock);
  return true;
}

bool Machine::isReady(const Operation &operation) const {
  return isDone(operation.before);
}

/// Does operations at random until these are done.
void Machine::finish(const Clock &clock) {
  const char *patience = getenv("DTC_STANDIN_PATIENCE");
  double patienceSeconds = patience ? strtod(patience, nullptr) : 60;
  timespec began;
  clock_gettime(CLOCK_MONOTONIC, &began);
  while (!query(clock)) {
    size_t count = streams.size(), start = size_t(random() % count);
    bool progressed = false;
    const Operation *stuck = nullptr;
    for (size_t i = 0; i < count && !progressed; ++i) {
      Stream &stream = streams[(start + i) % count];
      if (stream.waiting.empty() || !isReady(stream.waiting.front()))
        continue;
      if (!stream.waiting.front().tryRun()) {
        stuck = &stream.waiting.front();
        continue;
      }
      stream.waiting.pop_front();
      ++stream.done;
      progressed = true;
    }
    if (progressed) {
      clock_gettime(CLOCK_MONOTONIC, &began);
      continue;
    }
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!stuck || double(now.tv_sec - began.tv_sec) > patienceSeconds)
      fault("'%s' waits for what never comes",
            stuck ? stuck->name.c_str() : "the host");
    usleep(50);
  }
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

void Machine::beginCapture(int stream) {
  capture = std::make_unique<Graph>();
  captured.clear();
  captured[stream] = {};
  isInvalid = false;
  ++captures;
}

Captured Machine::invalidate(Captured why) {
  isInvalid = capture != nullptr;
  return why;
}

Captured Machine::endCapture(int stream, std::unique_ptr<Graph> &graph) {
  graph = std::move(capture);
  if (isInvalid)
    return Captured::invalidated;
  // Everything that was forked must have joined the stream again.
  std::vector<bool> reached(graph->nodes.size());
  std::vector<size_t> worklist = captured[stream];
  while (!worklist.empty()) {
    size_t node = worklist.back();
    worklist.pop_back();
    if (reached[node])
      continue;
    reached[node] = true;
    for (size_t before : graph->nodes[node].after)
      worklist.push_back(before);
  }
  for (bool isReached : reached)
    if (!isReached)
      return Captured::unjoined;
  return Captured::fine;
}

/// A stream for each that was captured, which all launches share.
void Machine::launch(const Graph &graph, int stream) {
  ++counts["graph_launch"];
  Clock begin = getClock(stream), end = begin;
  std::vector<Clock> after;
  for (const Graph::Node &node : graph.nodes) {
    auto [own, isNew] = replayed.try_emplace(node.operation.stream, 0);
    if (isNew)
      own->second = createStream();
    Clock &clock = streams[size_t(own->second)].clock;
    merge(clock, begin);
    for (size_t before : node.after)
      merge(clock, after[before]);
    add(own->second, node.operation.name, node.operation.accesses,
        node.operation.tryRun);
    after.push_back(getClock(own->second));
    merge(end, after.back());
  }
  streams[size_t(stream)].clock = end;
}
