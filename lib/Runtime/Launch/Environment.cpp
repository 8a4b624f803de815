//===- Environment.cpp - variables of launchers ---------------------------===//

#include "Environment.h"

#include "Core/Error.h"

#include <cstdlib>
#include <cstring>

extern char **environ;

using namespace dtc::rt;

namespace {

/// The variables of a launcher. Local ranks and sizes may be null, or not set:
/// then each rank has a machine of its own. Without a size MPI knows the other
/// values.
struct Variables {
  Launcher launcher;
  const char *name, *mark;
  const char *rank, *size, *localRank, *localSize;
};

// Some launchers start others: torchrun may run under srun or mpirun, mpirun
// under srun. The first launcher of the table whose variables are set is the
// innermost.
constexpr Variables table[] = {
    {Launcher::torchrun, "torchrun", "TORCHELASTIC_RUN_ID", "RANK",
     "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {Launcher::openMpi, "mpirun", "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {Launcher::slurm, "srun", "SLURM_STEP_ID", "SLURM_PROCID", "SLURM_NTASKS",
     "SLURM_LOCALID", nullptr},
    {Launcher::pmi, "mpiexec", "PMI_RANK", "PMI_RANK", "PMI_SIZE",
     "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {Launcher::pmix, "prun", "PMIX_RANK", "PMIX_RANK", nullptr, nullptr,
     nullptr},
};

} // namespace

/// The number in a variable; `otherwise` if it is not set.
static int read(const char *name, int otherwise) {
  const char *text = name ? getenv(name) : nullptr;
  if (!text)
    return otherwise;
  char *end;
  long value = strtol(text, &end, 10);
  if (end == text || *end || value < 0 || value > 1 << 24)
    fail("the environment has %s='%s', expected a number", name, text);
  return int(value);
}

/// The ranks of a Slurm step on this machine: "4" on one node, "4(x2)" on two,
/// else a list of such entries by node.
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

/// Whether the launcher started this very process.
static bool isThere(const Variables &launcher) {
  if (launcher.launcher == Launcher::slurm)
    // A batch script and its children have SLURM_PROCID, too.
    return getenv("SLURM_STEP_ID") && getenv("SLURM_PROCID");
  if (launcher.launcher != Launcher::torchrun)
    return getenv(launcher.rank);
  // Container systems set RANK and WORLD_SIZE for torchrun, counted by
  // container. Under mpirun these variables do not name this rank.
  if (getenv("OMPI_COMM_WORLD_RANK") && !getenv("LOCAL_RANK"))
    return false;
  const char *rank = getenv("RANK"), *size = getenv("WORLD_SIZE");
  if (!rank != !size && getenv("MASTER_ADDR"))
    fail("the environment has %s and MASTER_ADDR, but no %s; a launcher such "
         "as torchrun sets all three",
         rank ? "RANK" : "WORLD_SIZE", rank ? "WORLD_SIZE" : "RANK");
  return rank && size;
}

static Environment read(const Variables &launcher) {
  Environment found{launcher.launcher, launcher.name};
  // A user who sets RANK by hand may start ranks in the background and end.
  if (getenv(launcher.mark))
    found.mark = launcher.mark;
  found.servesMpi =
      launcher.launcher == Launcher::openMpi ||
      launcher.launcher == Launcher::pmix ||
      (launcher.launcher == Launcher::slurm && getenv("PMIX_RANK"));
  found.rank = read(launcher.rank, 0);
  if (!launcher.size)
    return found;
  if (!getenv(launcher.size))
    fail("the environment has %s, but no %s; %s sets both", launcher.rank,
         launcher.size, launcher.name);
  found.size = read(launcher.size, 1);
  found.localRank = read(launcher.localRank, 0);
  found.localSize = launcher.launcher == Launcher::slurm
                        ? readSlurmLocalSize()
                        : read(launcher.localSize, 1);
  auto expectBelow = [&](const char *name, int value, const char *bound,
                         int most) {
    if (value >= most)
      fail("the environment has %s=%d and %s=%d, expected the first to be the "
           "smaller; find what sets them, if it is not %s",
           name, value, bound, most, launcher.name);
  };
  const char *localSize =
      launcher.localSize ? launcher.localSize : "SLURM_STEP_TASKS_PER_NODE";
  expectBelow(launcher.rank, found.rank, launcher.size, found.size);
  if (found.localSize > found.size)
    fail("the environment has %s=%d, more than %s=%d; find what sets them, if "
         "it is not %s",
         localSize, found.localSize, launcher.size, found.size, launcher.name);
  if (launcher.localRank)
    expectBelow(launcher.localRank, found.localRank, localSize,
                found.localSize);
  return found;
}

Environment Environment::get() {
  for (const Variables &launcher : table)
    if (isThere(launcher))
      return read(launcher);
  return {};
}

bool dtc::rt::startedByLauncher() {
  static const bool found = Environment::get().launcher != Launcher::none;
  return found;
}

std::optional<MasterAddress> MasterAddress::get() {
  const char *host = getenv("MASTER_ADDR"), *port = getenv("MASTER_PORT");
  if (!host || !port)
    return std::nullopt;
  char *end;
  long number = strtol(port, &end, 10);
  if (end == port || *end || number < 1 || number > 65535 - numPorts)
    fail("the environment has MASTER_PORT='%s', expected a number from 1 to %d",
         port, 65535 - numPorts);
  const char *isAgents = getenv("TORCHELASTIC_USE_AGENT_STORE");
  return MasterAddress{host, int(number),
                       isAgents && strcmp(isAgents, "True") == 0};
}

bool dtc::rt::hasMasterPort() { return getenv("MASTER_PORT"); }

std::string dtc::rt::describeEnvironment() {
  // A list of names instead of prefixes, so that values such as keys are not
  // printed.
  const char *wanted[] = {"CUDA_",
                          "NCCL_",
                          "NVIDIA_VISIBLE_DEVICES=",
                          "NVIDIA_DRIVER_CAPABILITIES=",
                          "OMP_",
                          "OMPI_COMM_",
                          "GLOO_",
                          "MASTER_ADDR=",
                          "MASTER_PORT=",
                          "RANK=",
                          "WORLD_SIZE=",
                          "LOCAL_RANK=",
                          "LOCAL_WORLD_SIZE=",
                          "PMI_RANK=",
                          "PMI_SIZE=",
                          "PMIX_RANK=",
                          "SLURM_PROCID=",
                          "SLURM_NTASKS=",
                          "SLURM_LOCALID=",
                          "SLURM_NODEID=",
                          "SLURM_STEP_TASKS_PER_NODE=",
                          "LD_LIBRARY_PATH=",
                          "LD_PRELOAD=",
                          "CUBLAS"};
  std::string text;
  for (char **variable = environ; *variable; ++variable)
    for (const char *name : wanted)
      if (strncmp(*variable, name, strlen(name)) == 0)
        text += format("variable   %s\n", *variable);
  return text;
}

std::string dtc::rt::jobName(const Environment &environment) {
  auto text = [](const char *name) {
    const char *value = getenv(name);
    return std::string(value ? value : "");
  };
  switch (environment.launcher) {
  case Launcher::openMpi:
  case Launcher::pmix:
    return text("PMIX_NAMESPACE") + text("OMPI_MCA_ess_base_jobid");
  case Launcher::torchrun:
    return text("TORCHELASTIC_RUN_ID") + "." + text("MASTER_PORT") + "." +
           text("TORCHELASTIC_RESTART_COUNT");
  case Launcher::slurm:
    return text("SLURM_JOB_ID") + "." + text("SLURM_STEP_ID");
  case Launcher::pmi:
  case Launcher::none:
    return {};
  }
  return {};
}
