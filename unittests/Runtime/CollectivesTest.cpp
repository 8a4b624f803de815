//===- CollectivesTest.cpp - run by mpirun with several ranks -------------===//
//
// Every rank checks what it got; a failure on any of them ends the job with a
// status other than 0. The mesh is tp 2 x dp N/2 where N is even, else dp N:
// groups of neighbours, of every second rank, of all.
//
//===----------------------------------------------------------------------===//

#include "Collectives/Collectives.h"
#include "Core/Random.h"
#include "Device/CPU/HostDevice.h"
#include "Launch/Environment.h"
#include "Program/Program.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

using namespace dtc::rt;

static int rank;

static void expect(bool condition, const char *what, int64_t detail) {
  if (condition)
    return;
  fprintf(stderr, "rank %d: %s (%lld)\n", rank, what, (long long)detail);
  _Exit(1);
}

/// Hands out the arena from its start.
class Memory {
public:
  Memory(char *arena, int64_t bytes) : arena(arena), bytes(bytes) {}

  template <typename T> T *take(int64_t count) {
    char *place = arena + used;
    used += (count * int64_t(sizeof(T)) + 63) / 64 * 64;
    expect(used <= bytes, "the arena is too small", used);
    return reinterpret_cast<T *>(place);
  }

private:
  char *arena;
  int64_t bytes;
  int64_t used = 0;
};

static Mesh meshOf(int size) {
  if (size % 2 == 0)
    return {{{"tp", 2}, {"dp", size / 2}}};
  return {{{"dp", size}}};
}

/// Members of a group get the sum but for rounding, and all the same bits,
/// again and again.
static void testBits(Collectives &collectives, const Mesh &mesh, Memory memory,
                     int group, const std::vector<int> &axes, int64_t count) {
  auto fill = [&](int owner, float *values) {
    RandomStream(1, RandomUse::input, uint32_t(owner))
        .fillNormal(DTC_F32, values, count, 1);
  };
  std::vector<double> expected(size_t(count), 0.0);
  std::vector<float> values(static_cast<size_t>(count));
  std::vector<int> here = mesh.coordinates(rank);
  for (int other = 0; other < collectives.size(); ++other) {
    std::vector<int> there = mesh.coordinates(other);
    for (int axis : axes)
      there[axis] = here[axis];
    if (there != here)
      continue;
    fill(other, values.data());
    for (size_t i = 0; i < values.size(); ++i)
      expected[i] += double(values[i]);
  }
  for (bool starts : {false, true}) {
    auto *mine = memory.take<float>(count), *again = memory.take<float>(count);
    for (float *buffer : {mine, again}) {
      fill(rank, buffer);
      if (starts)
        collectives.start(
            group, firstCollectiveSlot,
            Collective::allReduce(DTC_F32, DTC_SUM, buffer, count));
      else
        collectives.run(group,
                        Collective::allReduce(DTC_F32, DTC_SUM, buffer, count));
      collectives.wait(firstCollectiveSlot);
    }
    for (int64_t i = 0; i < count; ++i)
      expect(std::abs(double(mine[i]) - expected[size_t(i)]) < 1e-5,
             "wrong sum", i);
    expect(memcmp(mine, again, size_t(count) * 4) == 0, "a second run differs",
           count);
    // Bitwise equality: the largest and the smallest pattern are the same.
    auto *highest = memory.take<int32_t>(count);
    auto *lowest = memory.take<int32_t>(count);
    memcpy(highest, mine, size_t(count) * 4);
    std::transform(highest, highest + count, lowest,
                   [](int32_t bits) { return ~bits; });
    collectives.run(group,
                    Collective::allReduce(DTC_I32, DTC_MAX, highest, count));
    collectives.run(group,
                    Collective::allReduce(DTC_I32, DTC_MAX, lowest, count));
    for (int64_t i = 0; i < count; ++i)
      expect(highest[i] == ~lowest[i], "members got different bits", count);
  }
}

/// A small whole number, so that sums are exact in every type.
template <typename T> static T valueOf(int member, int64_t i) {
  if constexpr (sizeof(T) == 1)
    return T((member + i) % 5 == 0);
  else
    return T((member * 7 + i * 3) % 11 - 5);
}

template <typename T>
static T expectedOf(int members, int64_t i, dtc_reduction reduction) {
  T result = valueOf<T>(0, i);
  for (int member = 1; member < members; ++member) {
    T value = valueOf<T>(member, i);
    result = reduction == DTC_MAX || sizeof(T) == 1 ? std::max(result, value)
                                                    : T(result + value);
  }
  return result;
}

/// Every collective, done at once and started; what is started is in flight
/// together, over all groups, while the rank does something else.
template <typename T>
static void testKinds(Collectives &collectives, Memory memory, int numGroups,
                      dtc_dtype dtype, int64_t count) {
  struct Started {
    int group;
    dtc_reduction reduction;
    T *reduced, *part, *whole, *exchanged, *moved;
  };
  // Each member gets the input of the next.
  std::vector<std::vector<int>> rotations;
  for (int group = 0; group < numGroups; ++group) {
    rotations.emplace_back();
    for (int i = 0; i < collectives.groupSize(group); ++i)
      rotations.back().push_back((i + 1) % collectives.groupSize(group));
  }
  std::vector<Started> all;
  int slot = firstCollectiveSlot;
  for (int group = 0; group < numGroups; ++group)
    for (dtc_reduction reduction : {DTC_SUM, DTC_MAX})
      for (bool starts : {true, false}) {
        int members = collectives.groupSize(group);
        int place = collectives.groupRank(group);
        T *reduced = memory.take<T>(count), *part = memory.take<T>(count);
        T *whole = memory.take<T>(count * members);
        T *exchanged = memory.take<T>(count * members);
        T *moved = memory.take<T>(count);
        T *input = memory.take<T>(count * members);
        for (int64_t i = 0; i < count * members; ++i)
          input[i] = valueOf<T>(place, i);
        std::copy(input, input + count, reduced);
        int64_t bytes = count * int64_t(sizeof(T));
        for (const Collective &own :
             {Collective::allReduce(dtype, reduction, reduced, count),
              Collective::reduceScatter(dtype, reduction, input, part, count),
              Collective::allGather(input, whole, bytes),
              Collective::allToAll(input, exchanged, bytes),
              Collective::permute(rotations[size_t(group)], input, moved,
                                  bytes)})
          if (starts)
            collectives.start(group, slot++, own);
          else
            collectives.run(group, own);
        all.push_back(
            {group, reduction, reduced, part, whole, exchanged, moved});
      }
  for (int i = 0; i < 3 * (rank + 1); ++i)
    collectives.poll();
  // Not in the order in which they started.
  for (int odd : {1, 0})
    for (int i = firstCollectiveSlot; i < slot; ++i)
      if (i % 2 == odd)
        collectives.wait(i);
  for (const Started &entry : all) {
    int members = collectives.groupSize(entry.group);
    int64_t first = collectives.groupRank(entry.group) * count;
    for (int64_t i = 0; i < count; ++i) {
      expect(entry.reduced[i] == expectedOf<T>(members, i, entry.reduction),
             "wrong reduced element", i);
      expect(entry.part[i] ==
                 expectedOf<T>(members, first + i, entry.reduction),
             "wrong element of a part", i);
    }
    for (int64_t i = 0; i < count * members; ++i) {
      int member = count ? int(i / count) : 0;
      expect(entry.whole[i] == valueOf<T>(member, i % count),
             "wrong gathered element", i);
      expect(entry.exchanged[i] == valueOf<T>(member, first + i % count),
             "wrong exchanged element", i);
    }
    int source = (int(first / std::max<int64_t>(count, 1)) + 1) % members;
    for (int64_t i = 0; i < count; ++i)
      expect(entry.moved[i] == valueOf<T>(source, i), "wrong moved element", i);
  }
}

/// All send before anyone receives, in several slots, out of order.
static void testPointToPoint(Collectives &collectives) {
  int next = (rank + 1) % collectives.size();
  int previous = (rank + collectives.size() - 1) % collectives.size();
  constexpr int messages = 8;
  constexpr size_t words = 50000;
  std::vector<std::vector<int>> sent, got(messages);
  for (int i = 0; i < messages; ++i)
    sent.emplace_back(words, rank * 100 + i);
  for (int i = 0; i < messages; ++i)
    collectives.send(next, i, 4095 - i, sent[size_t(i)].data(), words * 4);
  for (int i = messages - 1; i >= 0; --i) {
    got[size_t(i)].resize(words);
    collectives.recv(previous, i, i, got[size_t(i)].data(), words * 4);
    collectives.wait(i);
    expect(got[size_t(i)] == std::vector<int>(words, previous * 100 + i),
           "wrong message", i);
  }
  for (int i = 0; i < messages; ++i)
    collectives.wait(4095 - i);
}

/// usage: CollectivesTest mpi|gloo|shared|shared-gloo
int main(int argc, char **argv) {
  expect(argc == 2, "expected one argument, an engine", argc);
  std::string engine = argv[1];
  auto network = engine == "gloo" || engine == "shared-gloo"
                     ? makeGlooCollectives(Environment::get(), "", 30)
                     : makeMpiCollectives(/*timeout=*/60);
  rank = network->rank();
  bool isShared = engine.compare(0, 6, "shared") == 0;
  auto collectives =
      isShared ? makeSharedMemoryCollectives(*network) : std::move(network);
  Program program;
  program.mesh = meshOf(collectives->size());
  program.groups.emplace_back();
  for (size_t axis = 0; axis < program.mesh.axes.size(); ++axis)
    program.groups[0].push_back(int(axis));
  for (size_t axis = 0; axis < program.mesh.axes.size(); ++axis)
    program.groups.push_back({int(axis)});
  collectives->createGroups(program);
  int64_t bytes = int64_t(160) << 20;
  std::unique_ptr<Arena> arena = makeHostArena(
      bytes, collectives->sharesArena() ? Sharing::machine : Sharing::none);
  std::string note = collectives->attach(*arena);
  expect(note.empty(), note.c_str(), 0);
  Memory memory(arena->address(), bytes);
  // Below, between and above the sizes at which OpenMPI changes its algorithm.
  for (size_t group = 0; group < program.groups.size(); ++group)
    for (int64_t count : {1, 7, 1000, 2501, 100003, 1500007})
      testBits(*collectives, program.mesh, memory, int(group),
               program.groups[group], count);
  int numGroups = int(program.groups.size());
  for (int64_t count : {0, 1, 7, 1000, 40001}) {
    testKinds<float>(*collectives, memory, numGroups, DTC_F32, count);
    testKinds<double>(*collectives, memory, numGroups, DTC_F64, count);
    testKinds<int32_t>(*collectives, memory, numGroups, DTC_I32, count);
    testKinds<int64_t>(*collectives, memory, numGroups, DTC_I64, count);
    testKinds<uint8_t>(*collectives, memory, numGroups, DTC_BOOL, count);
  }
  testPointToPoint(*collectives);
  expect(collectives->firstFailed(rank > 0) ==
             (collectives->size() > 1 ? 1 : -1),
         "wrong first failure", rank);
  expect(collectives->firstFailed(false) == -1, "nobody failed", rank);
  collectives->barrier(); // others may still read this rank's arena
  collectives->finish();
}
