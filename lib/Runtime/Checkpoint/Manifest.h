//===- Manifest.h - the manifest of a checkpoint ----------------*- C++ -*-===//
//
// checkpoint.json is the last file of a checkpoint that is written. docs/
// Checkpoints.md states the format.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_CHECKPOINT_MANIFEST_H
#define DTC_LIB_RUNTIME_CHECKPOINT_MANIFEST_H

#include "Options/Options.h"
#include "TrainingState.h"

#include <optional>
#include <string>
#include <vector>

namespace dtc::rt {

/// The settings that the numbers of a training depend on, besides its state.
struct TrainingSetting {
  std::string model, dtype, optimizer;
  int64_t globalBatch;
  uint64_t seed;
  bool shuffle;
  std::string learningRate, data;
  std::string mesh; ///< only for people: any other goes on as well

  TrainingSetting() = default;
  TrainingSetting(const Program &program, const Options &options,
                  std::string data);

  /// Throws an Error if a training with this setting could not continue one
  /// with `other`. Returns notes about other differences.
  std::vector<std::string> compare(const TrainingSetting &other) const;
};

struct CheckpointManifest {
  TrainingState state;
  TrainingSetting setting;
  struct Shard {
    std::string file;
    int64_t bytes;
    uint64_t checksum;
  };
  std::vector<Shard> shards; ///< by rank

  std::string toJson() const;
  /// Throws an Error if the file is no manifest.
  static CheckpointManifest read(const std::string &path);
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CHECKPOINT_MANIFEST_H
