//===- Environment.h - variables of launchers -------------------*- C++ -*-===//
//
// Variables that launchers set, in one table for all devices. No other code
// reads them.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_LAUNCH_ENVIRONMENT_H
#define DTC_LIB_RUNTIME_LAUNCH_ENVIRONMENT_H

#include <optional>
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
  /// A variable that the ranks have and the launcher itself does not; null if
  /// the launcher may end before its ranks.
  const char *mark = nullptr;
  /// Whether the launcher tells OpenMPI about the other ranks.
  bool servesMpi = false;
  int rank = 0, size = 1;
  /// Among the ranks of this machine.
  int localRank = 0, localSize = 1;

  /// Throws an Error that names the variable if one of them makes no sense.
  static Environment get();
};

/// Whether mpirun, srun, torchrun or another launcher started this process.
/// Throws an Error if their variables make no sense.
bool startedByLauncher();

/// The address of rank 0: MASTER_ADDR and MASTER_PORT.
struct MasterAddress {
  /// Rank 0 listens at the first free of so many ports, from `port` on.
  static constexpr int numPorts = 16;

  std::string host;
  int port;
  /// Whether torchrun's own server listens at `port`.
  bool isTaken;

  /// Empty unless the environment has both variables. Throws an Error if the
  /// port is none.
  static std::optional<MasterAddress> get();
};
/// Whether the launcher says where rank 0 is.
bool hasMasterPort();

/// Lines of the variables that launchers and libraries read, as far as they are
/// set.
std::string describeEnvironment();

/// A name that differs between jobs that run at once; empty if the launcher has
/// none.
std::string jobName(const Environment &environment);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_LAUNCH_ENVIRONMENT_H
