//===- TuningFile.h - the fastest ways to compute, in a file ----*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_TUNINGFILE_H
#define DTC_LIB_RUNTIME_TRAINING_TUNINGFILE_H

#include "Collectives/Collectives.h"
#include "Device/Tuning.h"

namespace dtc::rt {

/// The file of --autotune. It keeps what the first step has measured, and makes
/// all ranks compute in the same ways.
class TuningFile : public Tuning {
public:
  /// Rank 0 reads the file, if there is one. Throws an Error if it is not such
  /// a file, or cannot be written, or if ranks have different devices. `device`
  /// is the device that measurements hold for. All ranks call this.
  TuningFile(std::string path, std::string device, Collectives &collectives);

  /// After the first step: each rank learns the ways that any has measured, the
  /// lowest rank first. Rank 0 adds them to the file, or throws an Error.
  /// Returns their number. All ranks call this.
  size_t finish();

private:
  std::string path, device;
  Collectives &collectives;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_TUNINGFILE_H
