//===- Rendezvous.h - how ranks learn of each other -------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_RENDEZVOUS_H
#define DTC_LIB_RUNTIME_COLLECTIVES_RENDEZVOUS_H

#include "Launch/Environment.h"

#include <string>
#include <vector>

namespace dtc::rt {

/// Gives all ranks the bytes of each, once for each job, before there are
/// collectives: by files beside one that all ranks see, if it is named; else by
/// files in the memory of the machine if all ranks are on one, by MPI under
/// mpirun, or by TCP if MASTER_ADDR and MASTER_PORT say where rank 0 is. Throws
/// an Error that says what to do if there is no way, or none for `timeout`
/// seconds.
class Rendezvous {
public:
  /// `own` has as many bytes on each rank.
  Rendezvous(const Environment &environment, const std::string &file,
             int timeout, const std::vector<char> &own);
  /// All ranks have the bytes then: removes the file.
  ~Rendezvous();
  Rendezvous(const Rendezvous &) = delete;

  /// Those of all ranks, by rank.
  const std::vector<char> &all() const { return bytes; }

private:
  void meetByFiles(const Environment &environment, int timeout,
                   const std::vector<char> &own, bool isOneMachine);

  std::vector<char> bytes;
  std::string path; ///< of rank 0's file; empty if there is none
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_RENDEZVOUS_H
