//===- Environment.h - which rank this process is ---------------*- C++ -*-===//
//
// What launchers leave in the environment: mpirun, srun, torchrun --no-python.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_NCCL_ENVIRONMENT_H
#define DTC_LIB_RUNTIME_COLLECTIVES_NCCL_ENVIRONMENT_H

#include <string>

namespace dtc::rt {

enum class Launcher { none, torchrun, openMpi, slurm };

struct Environment {
  Launcher launcher = Launcher::none;
  int rank = 0, size = 1;
  /// Among the ranks of this machine.
  int localRank = 0, localSize = 1;

  /// Throws an Error if the variables make no sense.
  static Environment get();
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_NCCL_ENVIRONMENT_H
