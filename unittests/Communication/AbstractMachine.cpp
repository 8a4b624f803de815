//===- AbstractMachine.cpp - runs event lists as engines might ------------===//
//
// See AbstractMachine.h.
//
//===----------------------------------------------------------------------===//

#include "AbstractMachine.h"
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <random>

using namespace dtc;
using namespace dtc::test;

namespace {

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a ^ (b + 0x9e3779b97f4a7c15 + (a << 6) + (a >> 2));
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Bytes with one origin: byte i of them is (token, start + i).
struct Piece {
  int64_t begin, end;
  uint64_t token;
  int64_t start;
};
using Data = std::vector<Piece>; // in order, from byte 0

/// A buffer, or the known part of it: pieces in order, without gaps between
/// written bytes. Unwritten bytes are zero.
class Buffer {
public:
  Data read(int64_t begin, int64_t end) const {
    Data result;
    for (const Piece &piece : pieces)
      if (int64_t from = std::max(begin, piece.begin),
          to = std::min(end, piece.end);
          from < to)
        result.push_back({from - begin, to - begin, piece.token,
                          piece.start + from - piece.begin});
    return result;
  }
  void write(int64_t begin, int64_t end, const Data &data) {
    Data rest;
    for (const Piece &piece : pieces) {
      if (piece.begin < std::min(piece.end, begin))
        rest.push_back({piece.begin, std::min(piece.end, begin), piece.token,
                        piece.start});
      if (int64_t from = std::max(piece.begin, end); from < piece.end)
        rest.push_back(
            {from, piece.end, piece.token, piece.start + from - piece.begin});
    }
    for (const Piece &piece : data)
      if (begin + piece.begin < end)
        rest.push_back({begin + piece.begin, std::min(end, begin + piece.end),
                        piece.token, piece.start});
    std::sort(rest.begin(), rest.end(),
              [](const Piece &a, const Piece &b) { return a.begin < b.begin; });
    pieces.clear();
    for (const Piece &piece : rest)
      if (!pieces.empty() && pieces.back().end == piece.begin &&
          pieces.back().token == piece.token &&
          pieces.back().start + pieces.back().end - pieces.back().begin ==
              piece.start)
        pieces.back().end = piece.end;
      else
        pieces.push_back(piece);
  }
  const Data &getPieces() const { return pieces; }

private:
  Data pieces;
};

uint64_t hash(uint64_t seed, const Data &data) {
  for (const Piece &piece : data)
    seed = mix(mix(mix(seed, piece.begin), piece.end),
               mix(piece.token, piece.start));
  return seed;
}

int64_t getBytes(const Event &event) {
  static const int64_t sizes[] = {4, 8, 4, 8, 1};
  return event.count * (event.dtype < 0 ? 1 : sizes[event.dtype]);
}

/// A message. At first it has only one end. When it has both it may arrive at
/// any time, at the latest when one of them waits.
struct Message {
  struct End {
    int rank = -1;
    const Event *event = nullptr;
  };
  End from, to;
  bool isLate = false; ///< its bytes are read when it arrives
  std::vector<Data> data;
  bool hasArrived = false;

  bool isMatched() const { return from.event && to.event; }
};

/// An operation of a communicator.
struct Operation {
  struct Part {
    const Event *event = nullptr;
    bool readsLate = false, writesLate = false;
    std::vector<Data> data;
  };
  std::vector<int> members;
  std::vector<Part> parts; ///< by member
  size_t started = 0;
  bool isComputed = false;
  std::vector<uint64_t> results; ///< by member
};

/// The events that a rank has issued, and the time from which it takes part.
struct Transfer {
  const Event *event;
  std::shared_ptr<Message> message;
  std::shared_ptr<Operation> operation;

  bool takesPart() const { return message || operation; }
  bool isDone() const {
    return message ? message->hasArrived : operation && operation->isComputed;
  }
};

class Machine {
public:
  Machine(const CommunicationSystem &system, uint64_t seed);
  MachineResult run();

private:
  const CommunicationProgram &programOf(int rank) const {
    return system.programs[system.programOf[rank]];
  }
  bool toss() { return random() & 1; }
  bool stop(std::string why) {
    failure = std::move(why);
    return false;
  }
  /// Returns whether the event of a rank happened.
  bool step(int rank);
  bool issue(int rank, const Event &event);
  /// Lets issued events take part: all of them, or the first of each rank.
  bool proceed();
  bool exchange(int rank, Transfer &transfer);
  bool deliver(Message &message);
  bool meet(int rank, Transfer &transfer);
  /// Returns whether the awaited event of a rank is done.
  bool finish(int rank, Transfer &transfer);
  bool wait(int rank, const Event &event);
  /// Returns whether to delay an event that is possible now.
  bool isLate() { return !isOneByOne && toss(); }
  void compute(int rank, const Event &event);
  void computeOperation(Operation &operation);
  void writeResult(Operation &operation, size_t place);
  int getPeer(int rank, int stage) const;
  std::vector<int> getMembers(int rank, int group) const;

  std::vector<Data> readAll(int rank, const Event &event) {
    std::vector<Data> result;
    for (const Access &access : programOf(rank).getAccesses(event))
      if (!access.writes)
        result.push_back(
            buffers[rank][access.buffer].read(access.begin, access.end));
    return result;
  }

  const CommunicationSystem &system;
  std::mt19937_64 random;
  /// Like a GPU's stream: a rank executes its issued events one by one.
  bool isOneByOne;
  std::vector<std::vector<Buffer>> buffers; ///< by rank
  std::vector<size_t> next;
  std::vector<std::map<int, std::shared_ptr<Transfer>>> slots;
  std::vector<std::shared_ptr<Transfer>> blockedIn;          ///< by rank
  std::vector<std::deque<std::shared_ptr<Transfer>>> queues; ///< by rank
  /// Transfers with one end, by sender, receiver, tag.
  std::map<std::tuple<int, int, int>, std::deque<std::shared_ptr<Message>>>
      messages;
  /// By group and first member; the number of started collectives of each rank.
  std::map<std::pair<int, int>, std::vector<std::shared_ptr<Operation>>>
      operations;
  std::map<std::pair<int, int>, size_t> startedBy;
  std::string failure;
};

} // namespace

Machine::Machine(const CommunicationSystem &system, uint64_t seed)
    : system(system), random(seed), isOneByOne(seed % 2),
      next(system.programOf.size()), slots(system.programOf.size()),
      blockedIn(system.programOf.size()), queues(system.programOf.size()) {
  for (size_t rank = 0; rank < system.programOf.size(); ++rank)
    buffers.emplace_back(programOf(rank).numBuffers);
}

int Machine::getPeer(int rank, int stage) const {
  int inner = 1;
  for (size_t i = system.axes.size(); i-- > 0;) {
    int size = system.axes[i].size;
    if (system.axes[i].name == "pp")
      return stage < 0 || stage >= size
                 ? -1
                 : rank + (stage - rank / inner % size) * inner;
    inner *= size;
  }
  return -1;
}

/// The ranks in the order of their coordinates on the group's axes, the last
/// fastest.
std::vector<int> Machine::getMembers(int rank, int group) const {
  std::vector<int> inner(system.axes.size(), 1);
  for (size_t i = system.axes.size(); i-- > 1;)
    inner[i - 1] = inner[i] * system.axes[i].size;
  std::vector<int> members = {rank};
  for (int axis : system.groups[group]) {
    std::vector<int> more;
    int size = system.axes[axis].size;
    for (int member : members)
      for (int i = 0; i < size; ++i)
        more.push_back(member +
                       (i - member / inner[axis] % size) * inner[axis]);
    members = more;
  }
  return members;
}

void Machine::compute(int rank, const Event &event) {
  llvm::ArrayRef<Access> accesses = programOf(rank).getAccesses(event);
  uint64_t token = mix(0, event.source);
  bool reads = false;
  for (const Data &data : readAll(rank, event)) {
    token = hash(token, data);
    reads = true;
  }
  if (!reads) // its initial contents are its own
    token = mix(token, rank);
  for (const Access &access : accesses)
    if (access.writes)
      buffers[rank][access.buffer].write(
          access.begin, access.end,
          {{0, access.end - access.begin, token = mix(token, 1), 0}});
}

bool Machine::issue(int rank, const Event &event) {
  auto transfer = std::make_shared<Transfer>(Transfer{&event, {}, {}});
  if (event.slot < 0 && event.kind == EventKind::Collective)
    blockedIn[rank] = transfer;
  // MPI.cpp takes messages and collectives from one table.
  else if (event.slot < 0 || event.slot >= system.numSlots)
    return stop("there is no such slot");
  else if (!slots[rank].try_emplace(event.slot, transfer).second)
    return stop("the slot is taken");
  queues[rank].push_back(transfer);
  return proceed();
}

bool Machine::proceed() {
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t rank = 0; rank < queues.size(); ++rank)
      while (!queues[rank].empty()) {
        Transfer &first = *queues[rank].front();
        bool begins = !first.takesPart();
        if (begins && !(first.event->kind == EventKind::Collective
                            ? meet(rank, first)
                            : exchange(rank, first)))
          return false;
        bool isOver = !isOneByOne || first.isDone();
        progress |= begins || isOver;
        if (!isOver)
          break;
        queues[rank].pop_front();
      }
  }
  return true;
}

/// Ends with one tag meet in the order of their arrival.
bool Machine::exchange(int rank, Transfer &transfer) {
  const Event &event = *transfer.event;
  int peer = getPeer(rank, event.stage);
  if (peer < 0 || peer == rank)
    return stop("there is no such stage");
  bool isSend = event.kind == EventKind::Send;
  auto &waiting = isSend ? messages[{rank, peer, event.tag}]
                         : messages[{peer, rank, event.tag}];
  bool isOther = !waiting.empty() &&
                 (isSend ? waiting.front()->to : waiting.front()->from).event;
  auto message = isOther ? waiting.front() : std::make_shared<Message>();
  if (isOther)
    waiting.pop_front();
  else
    waiting.push_back(message);
  (isSend ? message->from : message->to) = {rank, &event};
  if (isSend) {
    message->isLate = toss();
    if (!message->isLate)
      message->data = readAll(rank, event);
  }
  transfer.message = message;
  return !message->isMatched() || isLate() || deliver(*message);
}

bool Machine::deliver(Message &message) {
  const auto &[from, to] = std::tie(message.from, message.to);
  if (message.isLate)
    message.data = readAll(from.rank, *from.event);
  if (getBytes(*from.event) > getBytes(*to.event))
    return stop("the message is truncated");
  size_t i = 0;
  for (const Access &access : programOf(to.rank).getAccesses(*to.event))
    if (access.writes && i < message.data.size())
      buffers[to.rank][access.buffer].write(access.begin, access.end,
                                            message.data[i++]);
  // A shorter message does not change the remaining bytes, which is an error.
  if (getBytes(*from.event) < getBytes(*to.event))
    return stop("the message is short");
  message.hasArrived = true;
  return true;
}

void Machine::computeOperation(Operation &operation) {
  uint64_t token = 0;
  for (size_t i = 0; i < operation.members.size(); ++i) {
    Operation::Part &part = operation.parts[i];
    if (part.readsLate)
      part.data = readAll(operation.members[i], *part.event);
    token = mix(token, static_cast<int>(part.event->collective));
    token = mix(token, part.event->reduction);
    for (const Data &data : part.data)
      token = hash(token, data);
  }
  // If members get different data, the result is that of a place; for a
  // permutation it is one member's input.
  const Event &event = *operation.parts.front().event;
  const CollectiveTraits &traits = getTraits(event.collective);
  bool isSame = traits.isInPlace || traits.input == Shares::One;
  bool fits =
      !traits.permutes ||
      system.permutations[event.permutation].size() == operation.members.size();
  if (!fits)
    (void)stop("the permutation is of another number of members");
  for (size_t i = 0; i < operation.members.size(); ++i) {
    uint64_t result = isSame ? token : mix(token, i + 1);
    if (traits.permutes && fits) {
      size_t source = system.permutations[event.permutation].at(i);
      result = static_cast<int>(event.collective);
      for (const Data &data : operation.parts.at(source).data)
        result = hash(result, data);
    }
    operation.results.push_back(result);
  }
  operation.isComputed = true;
  for (size_t i = 0; i < operation.members.size(); ++i)
    if (!operation.parts[i].writesLate)
      writeResult(operation, i);
}

void Machine::writeResult(Operation &operation, size_t place) {
  int rank = operation.members[place];
  uint64_t token = operation.results[place];
  for (const Access &access :
       programOf(rank).getAccesses(*operation.parts[place].event))
    if (access.writes)
      buffers[rank][access.buffer].write(
          access.begin, access.end,
          {{0, access.end - access.begin, token = mix(token, 1), 0}});
}

bool Machine::meet(int rank, Transfer &transfer) {
  const Event &event = *transfer.event;
  std::vector<int> members = getMembers(rank, event.group);
  size_t place =
      std::find(members.begin(), members.end(), rank) - members.begin();
  auto &list = operations[{event.group,
                           *std::min_element(members.begin(), members.end())}];
  size_t number = startedBy[{event.group, rank}]++;
  if (number == list.size()) {
    list.push_back(std::make_shared<Operation>());
    list.back()->members = members;
    list.back()->parts.resize(members.size());
  }
  transfer.operation = list[number];
  Operation &operation = *transfer.operation;
  for (const Operation::Part &other : operation.parts)
    if (other.event &&
        (other.event->kind != event.kind || other.event->dtype != event.dtype ||
         other.event->reduction != event.reduction ||
         other.event->collective != event.collective ||
         other.event->count != event.count ||
         other.event->inputBlocks != event.inputBlocks ||
         other.event->outputBlocks != event.outputBlocks ||
         other.event->permutation != event.permutation ||
         (other.event->slot < 0) != (event.slot < 0)))
      return stop("members of a collective do not agree");
  Operation::Part &part = operation.parts[place];
  part.event = &event;
  if (event.slot >= 0) {
    part.readsLate = toss();
    part.writesLate = toss();
  }
  if (!part.readsLate)
    part.data = readAll(rank, event);
  bool isLast = ++operation.started == members.size();
  if (isLast && (event.slot < 0 || !isLate())) // otherwise when a rank waits
    computeOperation(operation);
  return true;
}

bool Machine::finish(int rank, Transfer &transfer) {
  if (!transfer.takesPart())
    return false;
  if (Message *message = transfer.message.get())
    return message->hasArrived || (message->isMatched() && deliver(*message));
  Operation &operation = *transfer.operation;
  if (operation.started < operation.members.size())
    return false;
  if (!operation.isComputed)
    computeOperation(operation);
  size_t place =
      std::find(operation.members.begin(), operation.members.end(), rank) -
      operation.members.begin();
  if (operation.parts[place].writesLate)
    writeResult(operation, place);
  return true;
}

bool Machine::wait(int rank, const Event &event) {
  auto found = slots[rank].find(event.slot);
  if (found == slots[rank].end())
    return true; // like MPI_Wait on no request
  if (!finish(rank, *found->second))
    return false;
  slots[rank].erase(found);
  return true;
}

bool Machine::step(int rank) {
  const Event &event = programOf(rank).events[next[rank]];
  bool happened = true;
  switch (event.kind) {
  case EventKind::Local:
    compute(rank, event);
    break;
  case EventKind::Send:
  case EventKind::Recv:
    happened = issue(rank, event);
    break;
  case EventKind::Wait:
    happened = wait(rank, event);
    break;
  case EventKind::Collective:
    if (event.slot >= 0) {
      happened = issue(rank, event);
      break;
    }
    happened = (blockedIn[rank] || issue(rank, event)) &&
               finish(rank, *blockedIn[rank]);
    if (happened)
      blockedIn[rank] = nullptr;
  }
  next[rank] += happened;
  return happened;
}

MachineResult Machine::run() {
  std::vector<int> running(next.size());
  for (size_t rank = 0; rank < running.size(); ++rank)
    running[rank] = rank;
  auto isAtEnd = [&](int rank) {
    return next[rank] == programOf(rank).events.size();
  };
  while (failure.empty()) {
    running.erase(std::remove_if(running.begin(), running.end(), isAtEnd),
                  running.end());
    if (running.empty())
      break;
    // Each rank gets a turn, in any order, for any number of events: some ranks
    // fall far behind.
    std::shuffle(running.begin(), running.end(), random);
    bool progress = false;
    for (int rank : running) {
      int64_t turn = int64_t(1) << (random() % 12);
      while (turn-- > 0 && failure.empty() && !isAtEnd(rank) && step(rank))
        progress = true;
    }
    if (!progress && failure.empty())
      failure = "nobody can go on";
  }
  for (const auto &pending : slots)
    if (!pending.empty() && failure.empty())
      failure = "a slot is still taken when the next step begins";
  MachineResult result;
  result.failure = failure;
  for (const std::vector<Buffer> &owned : buffers)
    for (const Buffer &buffer : owned)
      result.contents.push_back(hash(0, buffer.getPieces()));
  return result;
}

MachineResult dtc::test::runOnce(const CommunicationSystem &system,
                                 uint64_t seed) {
  return Machine(system, seed).run();
}
