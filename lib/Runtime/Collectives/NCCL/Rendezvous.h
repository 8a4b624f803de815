//===- Rendezvous.h - how ranks learn of each other -------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_NCCL_RENDEZVOUS_H
#define DTC_LIB_RUNTIME_COLLECTIVES_NCCL_RENDEZVOUS_H

#include "Environment.h"

#include <string>

namespace dtc::rt {

/// Gives all ranks the bytes that rank 0 has, once for each job: by a file
/// that all ranks see, if one is named; else by a file in the memory of the
/// machine if all ranks are on one, by MPI under mpirun, or by TCP if
/// MASTER_ADDR and MASTER_PORT say where rank 0 is. Throws an Error that says
/// what to do if there is no way, or none for `timeout` seconds.
class Rendezvous {
public:
  Rendezvous(const Environment &environment, const std::string &file,
             int timeout, void *bytes, size_t size);
  /// All ranks have the bytes then: removes the file.
  ~Rendezvous();
  Rendezvous(const Rendezvous &) = delete;

private:
  std::string path; ///< of rank 0's file; empty if there is none
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_NCCL_RENDEZVOUS_H
