//===- Rendezvous.h - exchange of addresses between ranks -------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_RENDEZVOUS_H
#define DTC_LIB_RUNTIME_COLLECTIVES_RENDEZVOUS_H

#include "Launch/Environment.h"

#include <string>
#include <vector>

namespace dtc::rt {

/// Gives all ranks the bytes of each rank, once for each job, before there are
/// collectives. The exchange is through files beside the named file, if there
/// is one. Otherwise it is through files in /dev/shm if all ranks are on one
/// machine, by MPI under mpirun, or by TCP to MASTER_ADDR and MASTER_PORT.
/// Throws an Error with advice if no way exists, or none works for `timeout`
/// seconds.
class Rendezvous {
public:
  /// `own` has as many bytes on each rank.
  Rendezvous(const Environment &environment, const std::string &file,
             int timeout, const std::vector<char> &own);
  /// Removes the file. Call it when all ranks have the bytes.
  ~Rendezvous();
  Rendezvous(const Rendezvous &) = delete;

  /// The bytes of all ranks, by rank.
  const std::vector<char> &all() const { return bytes; }

private:
  void meetByFiles(const Environment &environment, int timeout,
                   const std::vector<char> &own, bool isOneMachine);

  std::vector<char> bytes;
  std::string path; ///< of rank 0's file; empty if there is none
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_RENDEZVOUS_H
