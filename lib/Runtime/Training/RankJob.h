//===- RankJob.h - a training or an evaluation ------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_RANKJOB_H
#define DTC_LIB_RUNTIME_TRAINING_RANKJOB_H

#include <string>
#include <vector>

namespace dtc::rt {

/// A training, or an evaluation alone. The constructor allocates all memory of
/// the steps, and throws an Error if data or outputs do not fit. All ranks call
/// the constructor, and each function except for `announce` and `notes`.
class RankJob {
public:
  virtual ~RankJob() = default;

  /// Throws the same Error on all ranks if they read different data.
  virtual void expectSameData() const = 0;
  /// Reads the file of --autotune. Throws an Error.
  virtual void readTuning() {}
  /// Shows the arena to the collectives. Returns a note.
  virtual std::string shareArena() = 0;
  /// One line that describes the job, which rank 0 prints.
  virtual std::string announce() const = 0;
  /// Fills parameters and optimizer state. Throws Reported on all ranks.
  virtual void loadState() = 0;
  /// Notes for the user before the first step, which rank 0 prints.
  virtual std::vector<std::string> notes() const = 0;
  /// Returns whether all went well.
  virtual bool run() = 0;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_RANKJOB_H
