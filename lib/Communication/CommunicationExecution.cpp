//===- CommunicationExecution.cpp - run all ranks together ----------------===//
//
// Runs each agent until it blocks, and resumes it when the transfer that it
// waits for is done. The order of agents does not change the result: queues
// alone determine the partners, so no agent can take a partner from another.
//
//===----------------------------------------------------------------------===//

#include "CommunicationModel.h"
#include <algorithm>
#include <deque>
#include <map>

using namespace dtc;

namespace {

/// An event in which other programs take part.
struct Step {
  int32_t event;
  int32_t transfer; ///< transfer that it issues or waits for
  bool issues, waits;
};

/// The steps of a program that involve others.
struct Steps {
  std::vector<Step> list;
  std::vector<int32_t> transfers; ///< events, in order

  explicit Steps(const CommunicationProgram &program);
};

/// A communicator runs its operations one at a time.
struct Communicator {
  std::vector<int32_t> present; ///< members whose next operation is at the head
};

/// Each agent has a queue of issued transfers that are not done. A transfer
/// completes when it is at the head of the queues of all its participants.
class Execution {
public:
  Execution(const CommunicationSystem &system, const Agents &agents);
  MaybeError run();

private:
  int32_t getNumAgents() const { return agents.ranks.size(); }
  int32_t getProgram(int32_t agent) const {
    return system.programOf[agents.ranks[agent]];
  }
  const Steps &getSteps(int32_t agent) const {
    return steps[getProgram(agent)];
  }
  bool isAtEnd(int32_t agent) const {
    return next[agent] == getSteps(agent).list.size();
  }
  const Event &getEvent(int32_t agent, int32_t event) const {
    return system.programs[getProgram(agent)].events[event];
  }
  bool hasHead(int32_t agent) const { return done[agent] < issued[agent]; }
  /// The event at the head of an agent's queue.
  int32_t getHead(int32_t agent) const {
    return getSteps(agent).transfers[done[agent]];
  }
  std::string nameRank(int32_t agent) const {
    return "rank " + std::to_string(agents.ranks[agent]);
  }
  CommunicationError::Place at(int32_t agent, int32_t event,
                               std::string message) const {
    return {getProgram(agent), event, std::move(message)};
  }
  void wake(int32_t agent) {
    if (!isQueued[agent])
      queue.push_back(agent);
    isQueued[agent] = true;
  }

  /// Runs the next step of an agent. Returns false if it blocks.
  bool advance(int32_t agent);
  void arrive(int32_t agent);
  void meetPeer(int32_t agent, const Event &event);
  void meetMembers(int32_t agent, const Event &event);
  void complete(int32_t agent);
  /// The agent that must progress before the head of an agent's queue can.
  int32_t getBlocker(int32_t agent) const;
  CommunicationError reportEnd(int32_t agent, int32_t blocker) const;
  CommunicationError reportBlocked() const;

  const CommunicationSystem &system;
  const Agents &agents;
  std::vector<Steps> steps;          ///< by program
  std::vector<size_t> next;          ///< next step of each agent
  std::vector<int32_t> issued, done; ///< number of transfers of each agent
  std::deque<int32_t> queue;         ///< agents that may continue
  std::vector<char> isQueued;
  /// Agents with a new queue head, and the index of that transfer.
  std::deque<std::pair<int32_t, int32_t>> arrivals;
  std::vector<Communicator> communicators;
  MaybeError error;
};

} // namespace

Steps::Steps(const CommunicationProgram &program) {
  std::map<int32_t, int32_t> slots; // index of the transfer in each slot
  for (size_t i = 0; i < program.events.size(); ++i) {
    const Event &event = program.events[i];
    int32_t index = i, transfer = transfers.size();
    if (event.kind == EventKind::Local)
      continue;
    if (event.kind == EventKind::Wait) {
      list.push_back({index, slots.at(event.slot), false, true});
      continue;
    }
    list.push_back({index, transfer, true, event.slot < 0});
    transfers.push_back(index);
    if (event.slot >= 0)
      slots[event.slot] = transfer;
  }
}

Execution::Execution(const CommunicationSystem &system, const Agents &agents)
    : system(system), agents(agents), next(agents.ranks.size()),
      issued(agents.ranks.size()), done(agents.ranks.size()),
      isQueued(agents.ranks.size()), communicators(agents.members.size()) {
  for (const CommunicationProgram &program : system.programs)
    steps.emplace_back(program);
}

void Execution::complete(int32_t agent) {
  ++done[agent];
  wake(agent);
  if (hasHead(agent))
    arrivals.emplace_back(agent, done[agent]);
}

/// Completes a message if it is at the heads of both ends' queues.
void Execution::meetPeer(int32_t agent, const Event &event) {
  int32_t peer = agents.peers[agent][event.stage];
  if (!hasHead(peer))
    return;
  const Event &other = getEvent(peer, getHead(peer));
  bool isSend = event.kind == EventKind::Send;
  if (other.kind != (isSend ? EventKind::Recv : EventKind::Send) ||
      agents.peers[peer][other.stage] != agent)
    return;
  int32_t sender = isSend ? agent : peer, receiver = isSend ? peer : agent;
  const Event &sent = isSend ? event : other, &got = isSend ? other : event;
  std::string difference;
  if (sent.tag != got.tag)
    difference = "tag " + std::to_string(got.tag) + ", but " +
                 nameRank(sender) + " sends tag " + std::to_string(sent.tag) +
                 " first";
  else if (sent.count != got.count || sent.dtype != got.dtype ||
           sent.type != got.type)
    difference = describeType(system, got) + ", but " + nameRank(sender) +
                 " sends " + describeType(system, sent);
  if (!difference.empty()) {
    error = {at(receiver, getHead(receiver),
                "on " + nameRank(receiver) + " receives " + difference),
             {at(sender, getHead(sender), "the send")}};
    return;
  }
  complete(agent);
  complete(peer);
}

/// Describes why two events do not match; empty if they do.
static std::string findDifference(const CommunicationSystem &system,
                                  int32_t program, const Event &a,
                                  int32_t otherProgram, const Event &b) {
  if (a.collective != b.collective || a.dtype != b.dtype ||
      a.reduction != b.reduction || a.count != b.count || a.type != b.type)
    return describe(system, a) + " meets " + describe(system, b);
  if (a.inputBlocks != b.inputBlocks || a.outputBlocks != b.outputBlocks)
    return describe(system, a) + " meets one with different blocks";
  if (a.permutation != b.permutation)
    return describe(system, a) + " meets one with another permutation";
  if ((a.slot < 0) != (b.slot < 0))
    return "one is synchronous, the other ends at a wait";
  if (program == otherProgram)
    return "";
  const CommunicationProgram &own = system.programs[program];
  const CommunicationProgram &other = system.programs[otherProgram];
  if (own.stage != other.stage)
    return a.subject == b.subject || a.subject < 0 || b.subject < 0
               ? ""
               : "value " + std::to_string(a.subject) + " meets value " +
                     std::to_string(b.subject);
  // Ranks of one stage have the same buffers.
  auto isSame = [](const Access &x, const Access &y) {
    return x.buffer == y.buffer && x.begin == y.begin && x.end == y.end &&
           x.value == y.value && x.writes == y.writes;
  };
  llvm::ArrayRef<Access> accesses = own.getAccesses(a);
  llvm::ArrayRef<Access> otherAccesses = other.getAccesses(b);
  return std::equal(accesses.begin(), accesses.end(), otherAccesses.begin(),
                    otherAccesses.end(), isSame)
             ? ""
             : "their buffers differ";
}

/// Completes a collective if it is at the heads of all members' queues.
void Execution::meetMembers(int32_t agent, const Event &event) {
  int32_t number = agents.communicators[agent][event.group];
  std::vector<int32_t> &present = communicators[number].present;
  if (!present.empty()) {
    int32_t first = present.front();
    std::string difference =
        findDifference(system, getProgram(agent), event, getProgram(first),
                       getEvent(first, getHead(first)));
    if (!difference.empty()) {
      error = {
          at(agent, getHead(agent),
             "on " + nameRank(agent) + " meets another collective on " +
                 nameRank(first) + ": " + difference),
          {at(first, getHead(first), "the collective of " + nameRank(first))}};
      return;
    }
  }
  present.push_back(agent);
  if (present.size() < agents.members[number].size())
    return;
  std::vector<int32_t> members = std::move(present);
  present.clear();
  for (int32_t member : members)
    complete(member);
}

void Execution::arrive(int32_t agent) {
  const Event &event = getEvent(agent, getHead(agent));
  if (isCollective(event.kind))
    meetMembers(agent, event);
  else
    meetPeer(agent, event);
}

bool Execution::advance(int32_t agent) {
  const Step &step = getSteps(agent).list[next[agent]];
  if (step.issues && issued[agent] == step.transfer) {
    ++issued[agent];
    if (done[agent] == step.transfer)
      arrivals.emplace_back(agent, step.transfer);
    while (!arrivals.empty() && !error) {
      auto [arrived, transfer] = arrivals.front();
      arrivals.pop_front();
      if (done[arrived] == transfer) // its peer may have come first
        arrive(arrived);
    }
  }
  return !step.waits || done[agent] > step.transfer;
}

int32_t Execution::getBlocker(int32_t agent) const {
  const Event &event = getEvent(agent, getHead(agent));
  if (!isCollective(event.kind))
    return agents.peers[agent][event.stage];
  int32_t number = agents.communicators[agent][event.group];
  const std::vector<int32_t> &present = communicators[number].present;
  return *llvm::find_if(agents.members[number], [&](int32_t member) {
    return !llvm::is_contained(present, member);
  });
}

/// Reports that `blocker` makes no further progress.
CommunicationError Execution::reportEnd(int32_t agent, int32_t blocker) const {
  const Event &event = getEvent(agent, getHead(agent));
  std::string message =
      event.kind == EventKind::Send
          ? "on " + nameRank(agent) + " is never received by " +
                nameRank(blocker) + ", stage " + std::to_string(event.stage)
          : "never happens: " + nameRank(agent) + " waits here for " +
                nameRank(blocker) + ", which has finished";
  CommunicationError found{at(agent, getHead(agent), std::move(message)), {}};
  if (const std::vector<Step> &own = getSteps(blocker).list; !own.empty())
    found.notes.push_back(at(blocker, own.back().event,
                             "the last communication of " + nameRank(blocker)));
  return found;
}

CommunicationError Execution::reportBlocked() const {
  int32_t blocked = 0;
  while (!hasHead(blocked))
    ++blocked;
  // Follow the chain of blocked agents to one that has finished, or to a cycle.
  std::vector<int32_t> chain = {blocked};
  while (true) {
    int32_t blocker = getBlocker(chain.back());
    auto seen = std::find(chain.begin(), chain.end(), blocker);
    if (seen != chain.end()) {
      chain.erase(chain.begin(), seen);
      break;
    }
    if (!hasHead(blocker))
      return reportEnd(chain.back(), blocker);
    chain.push_back(blocker);
  }
  CommunicationError found{
      at(chain.front(), getHead(chain.front()),
         "never happens: ranks wait for each other in a cycle, " +
             nameRank(chain.front()) + " here"),
      {}};
  for (size_t i = 1; i < chain.size(); ++i)
    found.notes.push_back(
        at(chain[i], getHead(chain[i]), nameRank(chain[i]) + " waits here"));
  return found;
}

MaybeError Execution::run() {
  for (int32_t agent = 0; agent < getNumAgents(); ++agent)
    wake(agent);
  while (!queue.empty()) {
    int32_t agent = queue.front();
    queue.pop_front();
    isQueued[agent] = false;
    while (!isAtEnd(agent) && advance(agent) && !error)
      ++next[agent];
    if (error)
      return error;
  }
  for (int32_t agent = 0; agent < getNumAgents(); ++agent)
    if (hasHead(agent))
      return reportBlocked();
  return std::nullopt;
}

MaybeError dtc::execute(const CommunicationSystem &system,
                        const Agents &agents) {
  return Execution(system, agents).run();
}
