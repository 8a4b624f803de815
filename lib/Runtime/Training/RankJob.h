//===- RankJob.h - what a rank does after it has started --------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_RANKJOB_H
#define DTC_LIB_RUNTIME_TRAINING_RANKJOB_H

#include <string>
#include <vector>

namespace dtc::rt {

/// A training, or an evaluation alone. Its constructor makes everything that
/// the steps need, and throws an Error if data or outputs do not fit. All ranks
/// meet in the constructor and in each function but `announce` and `notes`.
class RankJob {
public:
  virtual ~RankJob() = default;

  /// Throws the same Error on all ranks if they read different data.
  virtual void expectSameData() const = 0;
  /// Reads the file of --autotune. Throws an Error.
  virtual void readTuning() {}
  /// Shows the arena to the collectives. Returns a note.
  virtual std::string shareArena() = 0;
  /// One line that says what begins, for rank 0 to print.
  virtual std::string announce() const = 0;
  /// Fills parameters and optimizer state. Throws Reported on all ranks.
  virtual void loadState() = 0;
  /// What the user should know before the first step, for rank 0 to print.
  virtual std::vector<std::string> notes() const = 0;
  /// Returns whether all went well.
  virtual bool run() = 0;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_RANKJOB_H
