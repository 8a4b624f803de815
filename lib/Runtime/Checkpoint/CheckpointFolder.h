//===- CheckpointFolder.h - the checkpoints of a training -------*- C++ -*-===//
//
// A checkpoint is a folder. It is written under a temporary name, and renamed
// when all of it is on disk, so it is complete or does not exist.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
#define DTC_LIB_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H

#include "Manifest.h"
#include "Shards.h"

#include <atomic>
#include <set>

namespace dtc::rt {

/// All ranks see the same folder. All functions throw an Error on failure.
class CheckpointFolder {
public:
  explicit CheckpointFolder(std::string path) : path(std::move(path)) {}
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder &) = delete;

  //===--- Rank 0 only ----------------------------------------------------===//

  bool isThere() const;
  /// Creates the folder, and locks it against other programs until this object
  /// ends. Removes folders that a program that was killed left half written or
  /// half removed. Returns warnings about folders that are no checkpoints any
  /// more.
  std::vector<std::string> own();
  /// Creates the folder again if somebody has removed it, or put another in its
  /// place. Returns whether that was so.
  bool renew();
  /// Removes what `own` left for `expectVisible`.
  void unmark() const;
  /// Waits until the shards of all `ranks` of a step are on disk, and gives the
  /// checkpoint its name.
  void commit(CheckpointManifest manifest, int ranks);
  /// Ends the wait of another thread in `commit`, because a shard will not
  /// come.
  void cancel() { isCancelled = true; }
  /// Removes the parts of a checkpoint that is not committed.
  void abandon(int64_t step) const;
  /// Removes all checkpoints up to `step`, except for the newest `count` and
  /// those of `others`.
  void keepNewest(int64_t step, int64_t count,
                  const std::set<int64_t> &others) const;
  /// Removes checkpoints of later steps. They are damaged, or of a training
  /// that did not continue from `step`.
  void removeAfter(int64_t step) const;

  //===--- Every rank -----------------------------------------------------===//

  /// Throws an Error unless this rank sees the folder of rank 0.
  void expectVisible() const;

  /// Steps of the checkpoints, newest first.
  std::vector<int64_t> steps() const;
  std::string folderOf(int64_t step) const;
  CheckpointManifest readManifest(int64_t step) const;
  /// Throws an Error if a shard has changed since it was written.
  void verify(int64_t step, const CheckpointManifest::Shard &shard) const;

  /// Writes this rank's shard, and a mark that it is complete.
  void writeShard(
      int64_t step, int rank, const std::vector<KeptPiece> &pieces,
      const std::function<void(const KeptPiece &,
                               const std::function<void(const char *)> &)>
          &read) const;

  static std::string shardName(int rank);

private:
  std::string temporaryOf(int64_t step) const;
  void takeLock();

  std::string path;
  int lock = -1;
  std::atomic<bool> isCancelled = false;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CHECKPOINT_CHECKPOINTFOLDER_H
