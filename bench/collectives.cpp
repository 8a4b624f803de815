//===- collectives.cpp - shared memory against MPI ------------------------===//
//
// Times the runtime's two engines in turn on groups of all ranks. Prints the
// median time of the slowest rank for each collective and size.
//
// usage: mpirun -n RANKS bench-collectives [ROUNDS [MEGABYTES]]
//
//===----------------------------------------------------------------------===//

#include "Collectives/Collectives.h"
#include "Device/CPU/HostDevice.h"
#include "Program/Program.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace dtc;
using namespace dtc::rt;

namespace {

constexpr CollectiveKind kinds[] = {
    CollectiveKind::AllReduce, CollectiveKind::ReduceScatter,
    CollectiveKind::AllGather, CollectiveKind::AllToAll};

/// Seconds of one collective on the slowest rank. `bytes` is the size of the
/// whole tensor; `memory` holds it and as much for the result.
double time(Collectives &collectives, CollectiveKind kind, char *memory,
            int64_t bytes) {
  int64_t share =
      kind == CollectiveKind::AllReduce ? bytes : bytes / collectives.size();
  const CollectiveTraits &traits = getTraits(kind);
  Collective collective{kind,
                        memory,
                        traits.isInPlace ? memory : memory + bytes,
                        traits.reduces ? share / 4 : share,
                        traits.reduces ? DTC_F32 : DTC_BOOL,
                        DTC_SUM};
  collectives.barrier();
  auto start = std::chrono::steady_clock::now();
  collectives.run(0, collective);
  std::chrono::duration<double> own = std::chrono::steady_clock::now() - start;
  double seconds = own.count();
  std::vector<double> all(static_cast<size_t>(collectives.size()));
  collectives.gatherData(&seconds, all.data(), sizeof seconds);
  return *std::max_element(all.begin(), all.end());
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

} // namespace

int main(int argc, char **argv) {
  int rounds = argc > 1 ? int(strtol(argv[1], nullptr, 10)) : 31;
  int64_t most = (argc > 2 ? strtoll(argv[2], nullptr, 10) : 40) * 1000000;
  auto mpi = makeMpiCollectives(/*timeout=*/60);
  auto shared = makeSharedMemoryCollectives(*mpi);
  if (rounds < 1 || most < 1) {
    fprintf(stderr,
            "usage: mpirun -n RANKS bench-collectives [ROUNDS [MEGABYTES]]\n");
    mpi->finish();
    return 1;
  }
  Program program;
  program.mesh = {{{"dp", mpi->size()}}};
  program.groups = {{0}};
  shared->createGroups(program);
  // As in a training, MPI's buffers are not shared.
  auto own = makeHostArena(2 * most, Sharing::none);
  auto common = makeHostArena(2 * most, Sharing::machine);
  std::string note = shared->attach(*common);
  if (mpi->rank() == 0)
    printf("%s%s%d ranks, f32, median of %d rounds, slowest rank\n"
           "%-16s%12s%12s%12s%9s\n",
           note.c_str(), note.empty() ? "" : "\n", mpi->size(), rounds, "",
           "bytes", "MPI us", "shared us", "ratio");
  for (CollectiveKind kind : kinds)
    for (int64_t bytes : {int64_t(64), int64_t(4096), int64_t(262144),
                          int64_t(4000000), most}) {
      // Every rank has the same number of whole elements.
      bytes = std::max<int64_t>(bytes / (4 * mpi->size()), 1) * 4 * mpi->size();
      std::vector<double> first, second;
      for (int round = 0; round < rounds; ++round) {
        first.push_back(time(*mpi, kind, own->address(), bytes));
        second.push_back(time(*shared, kind, common->address(), bytes));
      }
      double a = median(first) * 1e6, b = median(second) * 1e6;
      if (mpi->rank() == 0)
        printf("%-16s%12lld%12.1f%12.1f%9.2f\n", getTraits(kind).name,
               (long long)bytes, a, b, b / a);
    }
  shared->barrier();
  shared->finish();
}
