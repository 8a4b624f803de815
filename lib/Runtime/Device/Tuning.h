//===- Tuning.h - the fastest way to compute, as measured -------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_TUNING_H
#define DTC_LIB_RUNTIME_DEVICE_TUNING_H

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace dtc::rt {

/// Chooses between the ways to compute something. The first step measures the
/// ways that are not known; later steps do as is known.
class Tuning {
public:
  /// The name of the fastest way, by the name of the computation.
  using Ways = std::map<std::string, std::string>;

  /// Returns the index of the way to compute `what`, among at least one way by
  /// name: the known one, else the first. In the first step, ways that are not
  /// known are measured besides: seconds(i) computes in way i, without an
  /// effect, and returns how long that took.
  size_t choose(const std::string &what, const std::vector<std::string> &ways,
                const std::function<double(size_t)> &seconds);

protected:
  Ways known;    ///< for this device, from the start or the first step
  Ways measured; ///< by this rank, in the first step
  bool isFirstStep = true;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_TUNING_H
