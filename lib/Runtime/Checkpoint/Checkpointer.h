//===- Checkpointer.h - saves a training and goes on with it ----*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_CHECKPOINT_CHECKPOINTER_H
#define DTC_LIB_RUNTIME_CHECKPOINT_CHECKPOINTER_H

#include "CheckpointFolder.h"
#include "Core/Agreement.h"

#include <thread>

namespace dtc::rt {

/// The checkpoints of one run, as a rank sees them. Functions are met by all
/// ranks; they throw an Error on the rank that failed, which ends the job, but
/// for those that say otherwise.
class Checkpointer {
public:
  Checkpointer(const dtc_context &context, Arena &arena, const Options &options,
               TrainingSetting setting);
  /// Waits for what is still written.
  ~Checkpointer();

  /// Opens the folder. If `--resume` is given, fills the arena from the newest
  /// whole checkpoint and returns where the training stands; nothing if there
  /// is none yet. Throws Reported on all ranks.
  std::optional<TrainingState> start();

  /// Whether a checkpoint is written after a step because of its number.
  bool isDue(int64_t step) const {
    return options.checkpointEvery && step % options.checkpointEvery == 0;
  }

  /// Writes a checkpoint, or starts to with `--checkpoint-async`: then what
  /// follows may change the arena.
  void save(const TrainingState &state);
  /// Fails if what was started did; returns at once. On each rank alone.
  void check();
  /// Waits until what was started is on disk.
  void finish();

  /// The step of the newest checkpoint of which this rank knows that it is
  /// whole; nothing if there is none.
  std::optional<int64_t> newest() const { return committed; }

private:
  std::optional<int64_t> chooseStep();
  bool isWhole(int64_t step);
  std::optional<TrainingState> resume();
  void read(int64_t step, const CheckpointManifest &manifest);
  void write(const TrainingState &state);
  void snapshot();
  [[noreturn]] void giveUp(const std::string &reason);

  const dtc_context &context;
  Arena &arena;
  const Options &options;
  TrainingSetting setting;
  CheckpointFolder folder;
  std::vector<KeptPiece> pieces; ///< that this rank writes
  std::optional<int64_t> committed;

  // Of what is written while the training goes on.
  std::vector<char> copy; ///< of the pieces, one after the other
  std::thread writer;
  std::atomic<bool> isWriting = false;
  Outcome outcome; ///< of the writer, once it is not writing
  int64_t writtenStep = 0;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CHECKPOINT_CHECKPOINTER_H
