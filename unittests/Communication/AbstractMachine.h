//===- AbstractMachine.h - runs event lists as engines might ----*- C++ -*-===//
//
// Runs all ranks of a program on an abstract machine. Data are hashes of their
// inputs. Ranks take turns at random. Transfers happen at any moment that MPI
// allows, or one by one as on the stream of a GPU. The machine shares the data
// structure of the proof, but none of its code.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_UNITTESTS_SCHEDULE_ABSTRACTMACHINE_H
#define DTC_UNITTESTS_SCHEDULE_ABSTRACTMACHINE_H

#include "dtc/Communication/Communication.h"

namespace dtc::test {

struct MachineResult {
  /// The reason for which a rank hangs or MPI stops; empty if all ranks end
  /// with nothing in flight.
  std::string failure;
  /// Contents of all buffers of all ranks.
  std::vector<uint64_t> contents;
};

/// Runs a step once, in an order that follows from the seed: like MPI if it is
/// even, else like a stream.
MachineResult runOnce(const CommunicationSystem &system, uint64_t seed);

} // namespace dtc::test

#endif // DTC_UNITTESTS_SCHEDULE_ABSTRACTMACHINE_H
