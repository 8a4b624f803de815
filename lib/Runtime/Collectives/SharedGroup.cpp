//===- SharedGroup.cpp - a group whose ranks share memory -----------------===//

#include "SharedGroup.h"

#include "Core/Elements.h"
#include "Core/Fatal.h"
#include "Reduce.h"

#include <algorithm>
#include <cstring>

using namespace dtc::rt;

SharedGroup::SharedGroup(std::vector<Member> members, int place,
                         int64_t arenaBytes)
    : members(std::move(members)), place(place), arenaBytes(arenaBytes),
      queue(Mailbox::ringSize) {}

int64_t SharedGroup::offsetOf(const char *input, int64_t bytes) const {
  int64_t offset = input - members[size_t(place)].arena;
  if (offset < 0 || offset + bytes > arenaBytes)
    fatal("a collective's buffer is not in the rank's arena, expected all of "
          "them there; run with --collectives mpi and report a bug");
  return offset;
}

uint64_t SharedGroup::start(const Collective &collective) {
  Operation operation{collective};
  const CollectiveTraits &traits = operation.traits();
  int64_t elementBytes = sizeOf(operation.dtype);
  int64_t inputBytes =
      operation.bytes() * countShares(traits.input, numMembers());
  auto *input = static_cast<const char *>(operation.input);
  operation.end = operation.count * countShares(traits.output, numMembers());
  if (traits.isInPlace) {
    // Parts begin on cache lines, so that no two ranks write one.
    int64_t line = 64 / elementBytes;
    int64_t lines = (operation.count + line - 1) / line;
    int64_t part = (lines + numMembers() - 1) / numMembers() * line;
    operation.next = std::min(operation.count, place * part);
    operation.end = std::min(operation.count, operation.next + part);
  }
  Mailbox::Entry &entry = own().entries[started % Mailbox::ringSize];
  operation.isSmall = inputBytes <= int64_t(sizeof entry.small);
  if (operation.isSmall)
    memcpy(entry.small, input, size_t(inputBytes));
  else
    entry.offset = offsetOf(input, inputBytes);
  queue[started % Mailbox::ringSize] = operation;
  publish(&Mailbox::started, ++started);
  return started - 1;
}

void SharedGroup::publish(std::atomic<uint64_t> Mailbox::*counter,
                          uint64_t value) {
  (own().*counter).store(value, std::memory_order_release);
  for (int member = 0; member < numMembers(); ++member)
    if (member != place)
      members[size_t(member)].doorbell->ring();
}

/// Whether the counters of all members are beyond the collective that is next
/// to finish. `seen` is the lowest counter at the last look.
bool SharedGroup::haveAll(std::atomic<uint64_t> Mailbox::*counter,
                          uint64_t &seen) const {
  if (seen > finished)
    return true;
  seen = UINT64_MAX;
  for (const Member &member : members)
    seen = std::min(seen,
                    (member.mailbox->*counter).load(std::memory_order_acquire));
  return seen > finished;
}

bool SharedGroup::advance(int64_t &budget) {
  bool moved = false;
  while (isBusy() && budget > 0) {
    Operation &operation = queue[finished % Mailbox::ringSize];
    if (!haveAll(&Mailbox::started, seenStarted))
      return moved;
    if (operation.isSmall) {
      finishSmall(operation);
    } else {
      if (!operation.isWorkDone) {
        moved = true;
        work(operation, budget);
        if (operation.next < operation.end)
          return true;
        operation.isWorkDone = true;
        publish(&Mailbox::done, finished + 1);
      }
      if (!haveAll(&Mailbox::done, seenDone))
        return moved;
    }
    moved = true;
    ++finished;
  }
  return moved;
}

const char *SharedGroup::sourceOf(const Operation &operation,
                                  int64_t share) const {
  int64_t from =
      operation.sources ? (*operation.sources)[size_t(place)] : share;
  bool isDivided = operation.traits().input == Shares::PerMember;
  return inputOf(members[size_t(from)]) +
         (isDivided ? place * operation.bytes() : 0);
}

/// Each member reduces all of it, in the same order.
void SharedGroup::finishSmall(const Operation &operation) {
  const CollectiveTraits &traits = operation.traits();
  auto *output = static_cast<char *>(operation.output);
  if (traits.reduces)
    return reduceBlock(operation,
                       traits.isInPlace ? 0 : place * operation.count,
                       operation.count, output);
  int64_t bytes = operation.bytes();
  for (int64_t i = 0; i < countShares(traits.output, numMembers()); ++i)
    memcpy(output + i * bytes, sourceOf(operation, i), size_t(bytes));
}

/// Reduces elements of all inputs, in the order of the members.
void SharedGroup::reduceBlock(const Operation &operation, int64_t first,
                              int64_t count, char *target) const {
  int64_t elementBytes = sizeOf(operation.dtype);
  for (const Member &member : members) {
    const char *input = inputOf(member) + first * elementBytes;
    if (&member == &members.front())
      memcpy(target, input, size_t(count * elementBytes));
    else
      reduceInto(operation.dtype, operation.reduction, target, input, count);
  }
}

/// Works on this rank's share as far as the budget allows.
void SharedGroup::work(Operation &operation, int64_t &budget) {
  int64_t elementBytes = sizeOf(operation.dtype);
  const CollectiveTraits &traits = operation.traits();
  auto *output = static_cast<char *>(operation.output);
  while (operation.next < operation.end && budget > 0) {
    int64_t first = operation.next;
    int64_t count = std::min(operation.end - first, blockBytes / elementBytes);
    int64_t bytes = count * elementBytes;
    if (traits.isInPlace) {
      reduceBlock(operation, first, count, block);
      for (const Member &member : members)
        memcpy(member.arena + entryOf(member).offset + first * elementBytes,
               block, size_t(bytes));
      budget -= bytes * numMembers();
    } else if (traits.reduces) {
      reduceBlock(operation, place * operation.count + first, count,
                  output + first * elementBytes);
      budget -= bytes * numMembers();
    } else {
      int64_t within = first % operation.count;
      count =
          std::min({operation.end - first, operation.count - within, budget});
      memcpy(output + first,
             sourceOf(operation, first / operation.count) + within,
             size_t(count));
      budget -= count;
    }
    operation.next += count;
  }
}
