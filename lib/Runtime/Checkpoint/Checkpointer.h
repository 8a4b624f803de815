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

/// The checkpoints of one run, as a rank sees them. All ranks meet in `start`,
/// `save` and `finish`.
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

  /// Fills the arena from the newest whole checkpoint, or from that of
  /// `--resume-step`, and returns its step. Takes the folder from no other job.
  /// Throws Reported on all ranks. Met by all ranks.
  int64_t load();

  /// Whether a checkpoint is written after a step because of its number.
  bool isDue(int64_t step) const {
    return options.checkpointEvery && step % options.checkpointEvery == 0;
  }

  /// Writes a checkpoint, or starts to with `--checkpoint-async`: then what
  /// follows may change the arena. Throws Reported on all ranks.
  void save(const TrainingState &state);
  /// Waits until what was started is on disk. Throws Reported on all ranks.
  void finish();
  /// Whether what was started failed on this rank: the training may as well
  /// stop, and `finish` says why.
  bool hasFailed() const {
    return started &&
           ((isShardDone && shard.failed) || (isWholeDone && whole.failed));
  }

  /// Where to go on from after a step without numbers; nothing if there is no
  /// checkpoint. For rank 0.
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

  // Of what is written.
  std::optional<TrainingState> started; ///< and not waited for
  std::vector<char> copy;               ///< of the pieces, one after the other
  std::thread writer;                   ///< while the training goes on
  std::atomic<bool> isShardDone = true, isWholeDone = true;
  Outcome shard, whole; ///< of this rank's shard; on rank 0, of the checkpoint
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CHECKPOINT_CHECKPOINTER_H
