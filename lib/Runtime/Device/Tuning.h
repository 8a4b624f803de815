//===- Tuning.h - the fastest way to compute, as measured -------*- C++ -*-===//
//
// What --autotune FILE keeps. The first step of a training measures what the
// file does not know; steps after it do as the file says.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DEVICE_TUNING_H
#define DTC_LIB_RUNTIME_DEVICE_TUNING_H

#include "Collectives/Collectives.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace dtc::rt {

class Tuning {
public:
  /// By what is computed, the name of the fastest way.
  using Ways = std::map<std::string, std::string>;

  /// Rank 0 reads the file, if there is one; throws an Error if it is not such
  /// a file, or cannot be made, or if ranks have different devices. `device`
  /// is what measurements hold for. Met by all ranks.
  Tuning(std::string path, std::string device, Collectives &collectives);

  /// The number of the way to compute `what`, among `ways` by name, at least
  /// one: that which the file names, else the first. In the first step, that
  /// which is not known is measured besides: seconds(i) computes in way i,
  /// where that changes nothing, and returns how long it took.
  size_t choose(const std::string &what, const std::vector<std::string> &ways,
                const std::function<double(size_t)> &seconds);

  /// After the first step: each rank knows what any has measured, the lowest
  /// first, and rank 0 adds it to the file, or throws an Error. Returns how
  /// much it was. Met by all ranks.
  size_t finish();

private:
  std::string path, device;
  Collectives &collectives;
  std::map<std::string, Ways> known; ///< by device
  Ways measured;                     ///< by this rank, in the first step
  bool isFirstStep = true;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_TUNING_H
