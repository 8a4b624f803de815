//===- Observer.cpp - steps, and the record of a rank ---------------------===//

#include "Observer.h"

#include "dtc/Runtime/ABI.h"

#include <atomic>
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mpi.h>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

using namespace dtc::observer;

/// Steps whose allocations are kept.
static constexpr int64_t maxSteps = 64;

static std::atomic<bool> stepping;
static int rank;
static int64_t steps, atBegin;
static int64_t allocations[maxSteps];

bool dtc::observer::inStep() { return stepping; }

/// The positive control: in this step an allocation and a mapping are made.
static void plantAllocations(int64_t step) {
  const char *planted = getenv("DTC_OBSERVE_PLANT");
  if (!planted || step != strtoll(planted, nullptr, 10))
    return;
  void *volatile block = malloc(1);
  free(block);
  void *page = mmap(nullptr, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(page, 1);
}

extern "C" void dtcrt_step_hook(int64_t /*step*/, int32_t begin) {
  if (!begin) {
    stepping = false;
    if (steps <= maxSteps)
      allocations[steps - 1] = countAllocations() - atBegin;
    return;
  }
  // A worker of a server may compute several shares of a step, or none.
  if (steps == 0) {
    int initialized = 0;
    PMPI_Initialized(&initialized);
    if (initialized)
      PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    prepareAllocations();
  }
  ++steps;
  atBegin = countAllocations();
  stepping = true;
  plantAllocations(steps);
}

/// The most memory that this process ever had resident, in bytes.
static int64_t peakResident() {
  constexpr std::string_view peak = "VmHWM:";
  int64_t kibibytes = 0;
  if (FILE *status = fopen("/proc/self/status", "r")) {
    char line[256];
    while (fgets(line, sizeof line, status))
      if (strncmp(line, peak.data(), peak.size()) == 0) {
        kibibytes = strtoll(line + peak.size(), nullptr, 10);
        break;
      }
    fclose(status);
  }
  return kibibytes * 1024;
}

__attribute__((destructor)) static void writeRecord() {
  const char *path = getenv("DTC_OBSERVE");
  if (!path || !steps)
    return;
  char *line = nullptr;
  size_t size = 0;
  FILE *file = open_memstream(&line, &size);
  fprintf(file,
          "{\"rank\": %d, \"steps\": %" PRId64 ", \"vm_hwm\": %" PRId64
          ", \"allocations\": [",
          rank, steps, peakResident());
  for (int64_t i = 0; i < steps && i < maxSteps; ++i)
    fprintf(file, "%s%" PRId64, i ? ", " : "", allocations[i]);
  fprintf(file, "], \"communication\": ");
  writeCommunication(file);
  fprintf(file, "}\n");
  fclose(file);
  // One write, so that the ranks' lines do not mix.
  int output = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (output < 0 || write(output, line, size) != ssize_t(size))
    perror(path);
  close(output);
  free(line);
}
