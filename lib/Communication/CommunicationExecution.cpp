//===- CommunicationExecution.cpp - all ranks together --------------------===//
//
// Runs each agent until it blocks and again when what it waits for has
// happened. Which one runs first makes no difference: messages meet by number
// within their tag, collectives by number within their communicator, so what
// one agent does never takes from another what it could have done.
//
//===----------------------------------------------------------------------===//

#include "CommunicationModel.h"
#include "llvm/ADT/DenseMap.h"
#include <algorithm>
#include <deque>
#include <map>

using namespace dtc;

namespace {

/// An event of a program that others take part in.
struct Step {
  int32_t event;
  /// How many came before it with the same tag and peer, or in the same group.
  int64_t ordinal = 0;
  int32_t target = -1; ///< of a wait: the step that took the slot
};

std::vector<Step> getSteps(const CommunicationProgram &program) {
  std::vector<Step> steps;
  std::map<std::tuple<EventKind, int32_t, int32_t>, int64_t> ordinals;
  std::map<int32_t, int32_t> slots;
  for (size_t i = 0; i < program.events.size(); ++i) {
    const Event &event = program.events[i];
    if (event.kind == EventKind::Local)
      continue;
    Step step{static_cast<int32_t>(i)};
    if (event.kind == EventKind::Wait)
      step.target = slots.at(event.slot);
    else if (isCollective(event.kind)) // kinds meet: they must be the same
      step.ordinal = ordinals[{EventKind::Collective, event.group, -1}]++;
    else
      step.ordinal = ordinals[{event.kind, event.stage, event.tag}]++;
    if (event.kind != EventKind::Wait && event.slot >= 0)
      slots[event.slot] = steps.size();
    steps.push_back(step);
  }
  return steps;
}

/// Messages from one agent to another with one tag. At most one is in flight.
struct Channel {
  int64_t sent = 0, received = 0;
  int32_t lastSend = -1; ///< an event of the sender
};

/// The operations of one communicator that not all members have started.
struct Communicator {
  struct Operation {
    int32_t agent, event; ///< who started it first
    size_t started = 1;
  };
  int64_t done = 0; ///< operations before the first of these
  std::deque<Operation> operations;
};

class Execution {
public:
  Execution(const CommunicationSystem &system, const Agents &agents);
  MaybeError run();

private:
  enum class Outcome { Happened, Blocked };

  size_t getNumAgents() const { return agents.ranks.size(); }
  int32_t getProgram(int32_t agent) const {
    return system.programOf[agents.ranks[agent]];
  }
  bool isAtEnd(int32_t agent) const {
    return next[agent] == steps[getProgram(agent)].size();
  }
  const Event &getEvent(int32_t agent, const Step &step) const {
    return system.programs[getProgram(agent)].events[step.event];
  }
  const Step &getStep(int32_t agent) const {
    return steps[getProgram(agent)][next[agent]];
  }
  std::string nameRank(int32_t agent) const {
    return "rank " + std::to_string(agents.ranks[agent]);
  }
  CommunicationError::Place at(int32_t agent, int32_t event,
                               std::string message) const {
    return {getProgram(agent), event, std::move(message)};
  }
  Channel &getChannel(int32_t from, int32_t to, int32_t tag) {
    return channels[{static_cast<uint64_t>(from) << 32 | to, tag}];
  }
  void wake(int32_t agent) {
    if (!isQueued[agent])
      queue.push_back(agent);
    isQueued[agent] = true;
  }

  Outcome advance(int32_t agent);
  Outcome send(int32_t agent);
  Outcome receive(int32_t agent);
  Outcome wait(int32_t agent);
  Outcome meet(int32_t agent);
  /// The agent whose progress a blocked one waits for.
  int32_t getBlocker(int32_t agent);
  bool isDone(int32_t agent, const Step &step);
  CommunicationError reportBlocked();
  MaybeError checkReceived();

  const CommunicationSystem &system;
  const Agents &agents;
  std::vector<std::vector<Step>> steps; ///< by program
  std::vector<size_t> next;             ///< step of each agent
  std::vector<char> hasStarted; ///< whether it is in the collective of its step
  std::deque<int32_t> queue;    ///< agents that may go on
  std::vector<char> isQueued;
  llvm::DenseMap<std::pair<uint64_t, int32_t>, Channel> channels;
  std::vector<Communicator> communicators;
  MaybeError error;
};

} // namespace

Execution::Execution(const CommunicationSystem &system, const Agents &agents)
    : system(system), agents(agents), next(agents.ranks.size()),
      hasStarted(agents.ranks.size()), isQueued(agents.ranks.size()),
      communicators(agents.members.size()) {
  for (const CommunicationProgram &program : system.programs)
    steps.push_back(getSteps(program));
}

Execution::Outcome Execution::send(int32_t agent) {
  const Step &step = getStep(agent);
  const Event &event = getEvent(agent, step);
  int32_t receiver = agents.peers[agent][event.stage];
  Channel &channel = getChannel(agent, receiver, event.tag);
  ++channel.sent;
  channel.lastSend = step.event;
  wake(receiver);
  return Outcome::Happened;
}

Execution::Outcome Execution::receive(int32_t agent) {
  const Step &step = getStep(agent);
  const Event &event = getEvent(agent, step);
  int32_t sender = agents.peers[agent][event.stage];
  Channel &channel = getChannel(sender, agent, event.tag);
  if (channel.sent <= step.ordinal)
    return Outcome::Blocked;
  const Event &sent =
      system.programs[getProgram(sender)].events[channel.lastSend];
  if (sent.count != event.count || sent.dtype != event.dtype ||
      sent.type != event.type)
    error = {at(agent, step.event,
                "on " + nameRank(agent) + " receives " +
                    describeType(system, event) + ", but " + nameRank(sender) +
                    " sends " + describeType(system, sent)),
             {at(sender, channel.lastSend, "the send")}};
  ++channel.received;
  wake(sender);
  return Outcome::Happened;
}

bool Execution::isDone(int32_t agent, const Step &step) {
  const Event &event = getEvent(agent, step);
  if (event.kind == EventKind::Send) {
    int32_t receiver = agents.peers[agent][event.stage];
    return getChannel(agent, receiver, event.tag).received > step.ordinal;
  }
  return communicators[agents.communicators[agent][event.group]].done >
         step.ordinal;
}

Execution::Outcome Execution::wait(int32_t agent) {
  const Step &target = steps[getProgram(agent)][getStep(agent).target];
  return isDone(agent, target) ? Outcome::Happened : Outcome::Blocked;
}

/// Why two ranks may not meet in these events; empty if they may.
static std::string findDifference(const CommunicationSystem &system,
                                  int32_t program, const Event &a,
                                  int32_t otherProgram, const Event &b) {
  if (a.collective != b.collective || a.dtype != b.dtype ||
      a.reduction != b.reduction || a.count != b.count || a.type != b.type)
    return describe(system, a) + " meets " + describe(system, b);
  if (a.inputBlocks != b.inputBlocks || a.outputBlocks != b.outputBlocks)
    return describe(system, a) + " meets one of other blocks";
  if (a.permutation != b.permutation)
    return describe(system, a) + " meets one of another permutation";
  if ((a.slot < 0) != (b.slot < 0))
    return "one is done here, the other at a wait";
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
             : "their buffers are not the same";
}

Execution::Outcome Execution::meet(int32_t agent) {
  const Step &step = getStep(agent);
  const Event &event = getEvent(agent, step);
  int32_t number = agents.communicators[agent][event.group];
  Communicator &communicator = communicators[number];
  if (!hasStarted[agent]) {
    size_t index = step.ordinal - communicator.done;
    if (index == communicator.operations.size()) {
      communicator.operations.push_back({agent, step.event});
    } else {
      Communicator::Operation &operation = communicator.operations[index];
      ++operation.started;
      int32_t first = getProgram(operation.agent);
      std::string difference =
          findDifference(system, getProgram(agent), event, first,
                         system.programs[first].events[operation.event]);
      if (!difference.empty()) {
        error = {at(agent, step.event,
                    "on " + nameRank(agent) + " meets another collective on " +
                        nameRank(operation.agent) + ": " + difference),
                 {at(operation.agent, operation.event,
                     "the collective of " + nameRank(operation.agent))}};
        return Outcome::Blocked;
      }
    }
    hasStarted[agent] = true;
    // Members start in one order: the first operation is done first.
    if (communicator.operations.front().started ==
        agents.members[number].size()) {
      communicator.operations.pop_front();
      ++communicator.done;
      for (int32_t member : agents.members[number])
        if (member != agent)
          wake(member);
    }
  }
  if (event.slot < 0 && communicator.done <= step.ordinal)
    return Outcome::Blocked;
  hasStarted[agent] = false;
  return Outcome::Happened;
}

Execution::Outcome Execution::advance(int32_t agent) {
  switch (getEvent(agent, getStep(agent)).kind) {
  case EventKind::Local:
    return Outcome::Happened;
  case EventKind::Send:
    return send(agent);
  case EventKind::Recv:
    return receive(agent);
  case EventKind::Wait:
    return wait(agent);
  case EventKind::Collective:
    return meet(agent);
  }
  return Outcome::Blocked;
}

int32_t Execution::getBlocker(int32_t agent) {
  const Step *step = &getStep(agent);
  if (step->target >= 0)
    step = &steps[getProgram(agent)][step->target];
  const Event &event = getEvent(agent, *step);
  if (!isCollective(event.kind))
    return agents.peers[agent][event.stage];
  // A member that has not started it.
  for (int32_t member :
       agents.members[agents.communicators[agent][event.group]]) {
    int64_t started = hasStarted[member] &&
                      getEvent(member, getStep(member)).group == event.group;
    for (size_t i = 0; i < next[member]; ++i) {
      const Event &past = getEvent(member, steps[getProgram(member)][i]);
      started += isCollective(past.kind) && past.group == event.group;
    }
    if (started <= step->ordinal)
      return member;
  }
  return agent;
}

CommunicationError Execution::reportBlocked() {
  int32_t blocked = 0;
  while (isAtEnd(blocked))
    ++blocked;
  // Follow who waits for whom, until somebody has finished or comes again.
  std::vector<int32_t> chain = {blocked};
  while (true) {
    int32_t blocker = getBlocker(chain.back());
    auto seen = std::find(chain.begin(), chain.end(), blocker);
    if (seen != chain.end()) {
      chain.erase(chain.begin(), seen);
      break;
    }
    chain.push_back(blocker);
    if (!isAtEnd(blocker))
      continue;
    int32_t waiting = chain[chain.size() - 2];
    CommunicationError found{at(waiting, getStep(waiting).event,
                                "never happens: " + nameRank(waiting) +
                                    " waits here for " + nameRank(blocker) +
                                    ", which has come to its end"),
                             {}};
    if (const std::vector<Step> &own = steps[getProgram(blocker)]; !own.empty())
      found.notes.push_back(
          at(blocker, own.back().event,
             "the last communication of " + nameRank(blocker)));
    return found;
  }
  CommunicationError found{
      at(chain.front(), getStep(chain.front()).event,
         "never happens: ranks wait for each other in a cycle, " +
             nameRank(chain.front()) + " here"),
      {}};
  for (size_t i = 1; i < chain.size(); ++i)
    found.notes.push_back(at(chain[i], getStep(chain[i]).event,
                             nameRank(chain[i]) + " waits here"));
  return found;
}

MaybeError Execution::checkReceived() {
  for (int32_t agent = 0; agent < static_cast<int32_t>(getNumAgents());
       ++agent) {
    for (const Step &step : steps[getProgram(agent)]) {
      const Event &event = getEvent(agent, step);
      if (event.kind != EventKind::Send || isDone(agent, step))
        continue;
      int32_t receiver = agents.peers[agent][event.stage];
      CommunicationError found{
          at(agent, step.event,
             "on " + nameRank(agent) + " is never received by " +
                 nameRank(receiver) + ", stage " + std::to_string(event.stage)),
          {}};
      if (const std::vector<Step> &other = steps[getProgram(receiver)];
          !other.empty())
        found.notes.push_back(
            at(receiver, other.back().event,
               "the last communication of " + nameRank(receiver)));
      return found;
    }
  }
  return std::nullopt;
}

MaybeError Execution::run() {
  for (size_t agent = 0; agent < getNumAgents(); ++agent)
    wake(agent);
  while (!queue.empty()) {
    int32_t agent = queue.front();
    queue.pop_front();
    isQueued[agent] = false;
    while (!isAtEnd(agent) && advance(agent) == Outcome::Happened) {
      if (error)
        return error;
      ++next[agent];
    }
    if (error)
      return error;
  }
  for (size_t agent = 0; agent < getNumAgents(); ++agent)
    if (!isAtEnd(agent))
      return reportBlocked();
  return checkReceived();
}

MaybeError dtc::execute(const CommunicationSystem &system,
                        const Agents &agents) {
  return Execution(system, agents).run();
}
