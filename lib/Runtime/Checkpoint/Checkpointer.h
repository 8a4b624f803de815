//===- Checkpointer.h - saves a training and goes on with it ----*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_CHECKPOINT_CHECKPOINTER_H
#define DTC_LIB_RUNTIME_CHECKPOINT_CHECKPOINTER_H

#include "CheckpointFolder.h"
#include "Core/Outcome.h"
#include "Device/Arena.h"
#include "Program/Context.h"

#include <atomic>
#include <thread>

namespace dtc::rt {

/// The checkpoints of one run on a rank. All ranks call `start`, `save` and
/// `finish`.
class Checkpointer {
public:
  Checkpointer(const dtc_context &context, Arena &arena, const Options &options,
               TrainingSetting setting);
  /// Waits for a write in progress.
  ~Checkpointer();

  /// Opens the folder. With `--resume`, fills the arena from the newest
  /// complete checkpoint and returns the state of the training; empty if there
  /// is no checkpoint yet. Throws Reported on all ranks.
  std::optional<TrainingState> start();

  /// Fills the arena from the newest whole checkpoint, or from that of
  /// `--resume-step`, and returns its step. Takes the folder from no other job.
  /// Throws Reported on all ranks. All ranks call this.
  int64_t load();

  /// Whether the number of a step asks for a checkpoint.
  bool isDue(int64_t step) const {
    return options.checkpointEvery && step % options.checkpointEvery == 0;
  }

  /// Writes a checkpoint. With `--checkpoint-async` it starts the write, and
  /// the caller may change the arena. Throws Reported on all ranks.
  void save(const TrainingState &state);
  /// Waits until a started write is on disk. Throws Reported on all ranks.
  void finish();
  /// Whether a started write has failed on this rank. The training should stop
  /// then, and `finish` reports the error.
  bool hasFailed() const {
    return started &&
           ((isShardDone && shard.failed) || (isWholeDone && whole.failed));
  }

  /// Says which checkpoint to resume from after a step whose loss is not
  /// finite. Empty if there is no checkpoint. For rank 0.
  std::optional<std::string> describe(std::optional<int64_t> soundStep) const;

private:
  std::optional<int64_t> chooseStep();
  bool isWhole(int64_t step);
  std::string describeAbsence() const;
  std::optional<TrainingState> resume();
  void read(int64_t step, const CheckpointManifest &manifest);
  void snapshot();
  void writeShard(int64_t step);
  void commit(const TrainingState &state);
  void warn(const std::string &text) const;
  void removeFormer(const TrainingState &state) const;

  const dtc_context &context;
  Arena &arena;
  const Options &options;
  TrainingSetting setting;
  CheckpointFolder folder;
  std::vector<KeptPiece> pieces; ///< that this rank writes
  std::optional<int64_t> committed;

  // State of the write in progress.
  std::optional<TrainingState> started; ///< and not waited for
  std::vector<char> copy;               ///< of the pieces, one after the other
  std::thread writer;                   ///< while the training goes on
  std::atomic<bool> isShardDone = true, isWholeDone = true;
  Outcome shard, whole; ///< of this rank's shard; on rank 0, of the checkpoint
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CHECKPOINT_CHECKPOINTER_H
