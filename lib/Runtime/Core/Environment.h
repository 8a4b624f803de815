//===- Environment.h - which rank this process is ---------------*- C++ -*-===//
//
// What launchers leave in the environment, in one table for all devices.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_CORE_ENVIRONMENT_H
#define DTC_LIB_RUNTIME_CORE_ENVIRONMENT_H

#include <string>

namespace dtc::rt {

enum class Launcher {
  none,
  torchrun, ///< and what sets the same variables
  openMpi,
  slurm, ///< srun
  pmi,   ///< mpiexec of MPICH or Intel MPI
  pmix,  ///< another one that OpenMPI knows; MPI alone knows how many ranks
};

struct Environment {
  Launcher launcher = Launcher::none;
  const char *name = nullptr; ///< of the launcher
  /// A variable that its ranks have, and that it has not itself; null if the
  /// launcher may end before its ranks.
  const char *mark = nullptr;
  /// Whether OpenMPI learns from the launcher who the other ranks are.
  bool servesMpi = false;
  int rank = 0, size = 1;
  /// Among the ranks of this machine.
  int localRank = 0, localSize = 1;

  /// Throws an Error that names the variable if one of them makes no sense.
  static Environment get();
};

/// What jobs that run at once differ in; empty if the launcher does not say.
std::string jobName(const Environment &environment);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CORE_ENVIRONMENT_H
