//===- Environment.cpp - which rank this process is -----------------------===//

#include "Environment.h"

#include "Core/Error.h"

#include <cstdlib>

using namespace dtc::rt;

/// The number in a variable; `otherwise` if it is not set.
static int read(const char *name, int otherwise) {
  const char *text = getenv(name);
  if (!text)
    return otherwise;
  char *end;
  long value = strtol(text, &end, 10);
  if (end == text || *end || value < 0 || value > 1 << 24)
    fail("the environment has %s='%s', expected a number", name, text);
  return int(value);
}

/// Ranks of a step on this machine: "4" on one node, "4(x2)" on two, else a
/// list of such, by node.
static int readSlurmLocalSize() {
  const char *text = getenv("SLURM_STEP_TASKS_PER_NODE");
  int node = read("SLURM_NODEID", 0);
  while (text && *text) {
    char *end;
    long tasks = strtol(text, &end, 10), nodes = 1;
    if (end == text)
      break;
    if (end[0] == '(' && end[1] == 'x') {
      nodes = strtol(end + 2, &end, 10);
      end += *end == ')';
    }
    if (node < nodes)
      return int(tasks);
    node -= int(nodes);
    text = end + (*end == ',');
  }
  return read("SLURM_NTASKS_PER_NODE", 1);
}

static Environment readLauncher() {
  // The innermost launcher wins: torchrun may run under srun.
  if (getenv("RANK") && getenv("WORLD_SIZE"))
    return {Launcher::torchrun, read("RANK", 0), read("WORLD_SIZE", 1),
            read("LOCAL_RANK", 0), read("LOCAL_WORLD_SIZE", 1)};
  if (getenv("OMPI_COMM_WORLD_RANK"))
    return {Launcher::openMpi, read("OMPI_COMM_WORLD_RANK", 0),
            read("OMPI_COMM_WORLD_SIZE", 1),
            read("OMPI_COMM_WORLD_LOCAL_RANK", 0),
            read("OMPI_COMM_WORLD_LOCAL_SIZE", 1)};
  if (getenv("SLURM_STEP_ID") && getenv("SLURM_PROCID"))
    return {Launcher::slurm, read("SLURM_PROCID", 0), read("SLURM_NTASKS", 1),
            read("SLURM_LOCALID", 0), readSlurmLocalSize()};
  return {};
}

Environment Environment::get() {
  Environment found = readLauncher();
  if (found.rank >= found.size || found.localRank >= found.size)
    fail("the launcher says rank %d of %d, number %d on this machine, expected "
         "numbers below %d",
         found.rank, found.size, found.localRank, found.size);
  return found;
}
