//===- CollectivesTest.cpp - run by mpirun with several ranks -------------===//
//
// Every rank checks what it got; a failure on any of them ends the job with a
// status other than 0. The mesh is tp 2 x dp N/2 where N is even, else dp N.
//
//===----------------------------------------------------------------------===//

#include "Collectives/Collectives.h"
#include "Program.h"
#include "Random.h"

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

static Mesh meshOf(int size) {
  if (size % 2 == 0)
    return {{{"tp", 2}, {"dp", size / 2}}};
  return {{{"dp", size}}};
}

/// Members of a group get the exact sum, and all the same bits.
static void testAllReduce(Collectives &collectives, const Mesh &mesh, int group,
                          const std::vector<int> &axes, int64_t count) {
  auto valuesOf = [&](int owner) {
    std::vector<float> values(static_cast<size_t>(count));
    RandomStream(1, RandomUse::input, uint32_t(owner))
        .fillNormal(DTC_F32, values.data(), count, 1);
    return values;
  };
  std::vector<float> mine = valuesOf(rank), again = mine;
  std::vector<double> expected(size_t(count), 0.0);
  std::vector<int> here = mesh.coordinates(rank);
  for (int other = 0; other < collectives.size(); ++other) {
    std::vector<int> there = mesh.coordinates(other);
    for (int axis : axes)
      there[axis] = here[axis];
    if (there != here)
      continue;
    std::vector<float> values = valuesOf(other);
    for (size_t i = 0; i < values.size(); ++i)
      expected[i] += double(values[i]);
  }
  collectives.allReduce(group, DTC_F32, DTC_SUM, mine.data(), count);
  for (size_t i = 0; i < mine.size(); ++i)
    expect(std::abs(double(mine[i]) - expected[i]) < 1e-5, "wrong sum",
           int64_t(i));
  collectives.allReduce(group, DTC_F32, DTC_SUM, again.data(), count);
  expect(memcmp(mine.data(), again.data(), size_t(count) * 4) == 0,
         "a second run differs", count);
  // Bitwise equality: the largest and the smallest pattern are the same.
  std::vector<int32_t> bits(static_cast<size_t>(count)), highest, lowest;
  memcpy(bits.data(), mine.data(), size_t(count) * 4);
  highest = lowest = bits;
  for (int32_t &value : lowest)
    value = ~value;
  collectives.allReduce(group, DTC_I32, DTC_MAX, highest.data(), count);
  collectives.allReduce(group, DTC_I32, DTC_MAX, lowest.data(), count);
  for (size_t i = 0; i < bits.size(); ++i)
    expect(highest[i] == bits[i] && lowest[i] == ~bits[i],
           "members got different bits", count);
}

/// Parts and wholes: what is gathered is every member's part in order, and a
/// sum's part is that part of the sum.
static void testParts(Collectives &collectives, int group, int64_t count) {
  int members = collectives.groupSize(group);
  int place = collectives.groupRank(group);
  std::vector<int32_t> mine(static_cast<size_t>(count)),
      all(mine.size() * members);
  for (size_t i = 0; i < mine.size(); ++i)
    mine[i] = int32_t(place * count + int64_t(i));
  collectives.allGather(group, mine.data(), all.data(), count * 4);
  for (size_t i = 0; i < all.size(); ++i)
    expect(all[i] == int32_t(i), "wrong gathered element", int64_t(i));
  // Every member adds its place to the whole.
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = int32_t(i) + place;
  collectives.reduceScatter(group, DTC_I32, DTC_SUM, all.data(), mine.data(),
                            count);
  for (size_t i = 0; i < mine.size(); ++i)
    expect(mine[i] == int32_t(members * (place * count + int64_t(i)) +
                              members * (members - 1) / 2),
           "wrong element of a scattered sum", int64_t(i));
}

static void testSmallTypes(Collectives &collectives) {
  int64_t whole = rank;
  collectives.allReduce(0, DTC_I64, DTC_SUM, &whole, 1);
  int64_t size = collectives.size();
  expect(whole == size * (size - 1) / 2, "wrong i64 sum", whole);
  uint8_t flag = rank == collectives.size() - 1;
  collectives.allReduce(0, DTC_BOOL, DTC_MAX, &flag, 1);
  expect(flag == 1, "wrong bool maximum", flag);
  double value = -rank;
  collectives.allReduce(0, DTC_F64, DTC_MAX, &value, 1);
  expect(value == 0, "wrong f64 maximum", int64_t(value));
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
    collectives.recv(previous, i, got[size_t(i)].data(), words * 4);
    expect(got[size_t(i)] == std::vector<int>(words, previous * 100 + i),
           "wrong message", i);
  }
  for (int i = 0; i < messages; ++i)
    collectives.wait(4095 - i);
}

int main() {
  auto collectives = makeMpiCollectives();
  rank = collectives->rank();
  Program program;
  program.mesh = meshOf(collectives->size());
  program.groups.emplace_back();
  for (size_t axis = 0; axis < program.mesh.axes.size(); ++axis)
    program.groups[0].push_back(int(axis));
  for (size_t axis = 0; axis < program.mesh.axes.size(); ++axis)
    program.groups.push_back({int(axis)});
  collectives->createGroups(program);
  // Below, between and above the sizes at which OpenMPI changes its algorithm.
  for (size_t group = 0; group < program.groups.size(); ++group)
    for (int64_t count : {1, 7, 1000, 2501, 100003, 1500007}) {
      testAllReduce(*collectives, program.mesh, int(group),
                    program.groups[group], count);
      testParts(*collectives, int(group), count);
    }
  testSmallTypes(*collectives);
  testPointToPoint(*collectives);
  expect(collectives->firstFailed(rank > 0) ==
             (collectives->size() > 1 ? 1 : -1),
         "wrong first failure", rank);
  expect(collectives->firstFailed(false) == -1, "nobody failed", rank);
  collectives->finish();
}
