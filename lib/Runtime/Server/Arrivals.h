//===- Arrivals.h - the order of what a server did --------------*- C++ -*-===//
//
// A server's updates depend on the order in which it gives shares and applies
// gradients. The file of this order makes a training repeatable: a line with
// the number of workers, then a line for each event.
//
//   dtc-arrivals 1 workers 3
//   give STEP SHARE WORKER
//   apply STEP SHARE
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_SERVER_ARRIVALS_H
#define DTC_LIB_RUNTIME_SERVER_ARRIVALS_H

#include "Metrics/RecordFile.h"
#include "ShareQueue.h"

#include <string>
#include <vector>

namespace dtc::rt {

struct Arrival {
  bool isGiven; ///< or else applied
  Share share;
  int64_t worker = 0; ///< that the share was given to, from 1
};

/// The file of --record-arrivals.
class ArrivalFile {
public:
  /// A file without a path: writes nothing.
  ArrivalFile() = default;
  /// Throws an Error if the file cannot be created. A training that starts at
  /// a later step than 1 keeps the events of the steps before.
  ArrivalFile(const std::string &path, int64_t workers, int64_t firstStep);
  /// Throws an Error if the file cannot be written: the training could not be
  /// repeated.
  void write(const Arrival &arrival);

private:
  RecordFile file;
};

/// The events of a file, without an incomplete last line, which a job may leave
/// that was killed. Throws an Error if it is no such file, or is of another
/// number of workers.
std::vector<Arrival> readArrivals(const std::string &path, int64_t workers);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_SERVER_ARRIVALS_H
