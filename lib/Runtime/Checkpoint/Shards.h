//===- Shards.h - a rank's state in a checkpoint ----------------*- C++ -*-===//
//
// A shard is a safetensors file with the pieces of parameters and optimizer
// state that one rank writes. Its metadata have the place of each piece in the
// model's tensor, so that ranks of any plan can read the shards of any other
// plan.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_CHECKPOINT_SHARDS_H
#define DTC_LIB_RUNTIME_CHECKPOINT_SHARDS_H

#include "Program/Shard.h"
#include "Safetensors.h"
#include "System/MappedFile.h"

#include <map>
#include <set>

namespace dtc::rt {

/// A piece of a parameter or of one of its states.
struct KeptPiece {
  std::string group; ///< "parameter" or "state.NAME"
  const ParameterInfo *parameter;
  Piece piece;
  Stage::Rows rows = Stage::Rows::none; ///< along dimension 0
  bool isOptional = false;  ///< zero if a checkpoint does not have it
  bool isTransient = false; ///< no checkpoint has it

  bool isParameter() const { return group == "parameter"; }

  int64_t bytes() const { return piece.count * sizeOf(parameter->dtype); }
};

/// All pieces that a rank holds and keeps from step to step.
std::vector<KeptPiece> listHeldPieces(const Program &program, int rank);
/// The pieces that a worker pushes to the server.
std::vector<KeptPiece> listPushedPieces(const Program &program, int rank);

/// The pieces that the rank writes. Of the ranks that hold the same piece one
/// writes it, and they take turns.
std::vector<KeptPiece> listWrittenPieces(const Program &program, int rank);

struct ShardSummary {
  int64_t bytes;
  uint64_t checksum;
};

/// Calls `read(piece, use)` for each piece, which calls `use(bytes)`. Throws
/// when the file cannot be written.
ShardSummary writeShard(
    const std::string &path, const std::vector<KeptPiece> &pieces,
    const std::function<void(const KeptPiece &piece,
                             const std::function<void(const char *)> &use)>
        &read);

/// The shards of one checkpoint.
class ShardSet {
public:
  /// Throws an Error if a file is not a shard, or has other tensors or shapes
  /// than the program's model.
  ShardSet(const Program &program, const std::vector<std::string> &paths);

  /// Fills `target` with the piece, and its padding with zeros. If another
  /// number of positions had terms of their own, each gets the sum of these,
  /// divided by the number of positions now. If another number of workers had
  /// values of their own, each worker gets their mean, as does a program
  /// without workers; workers get a value that all ranks had. Throws an Error
  /// if the shards do not contain all of the piece, unless it is optional.
  void read(const KeptPiece &piece, char *target) const;

private:
  /// Elements of a tensor, in row-major order, that are contiguous in a file.
  struct Run {
    int64_t first, count;
    const char *data;
  };
  struct Entry {
    std::vector<Run> runs; ///< sorted by `first`
    int64_t rows = 0;      ///< along dimension 0; 0: one tensor of all ranks
  };
  /// A group and the name of a tensor.
  using Key = std::pair<std::string, std::string>;
  void add(const SafetensorsReader &shard);
  void readRows(const KeptPiece &piece, const Entry &entry, double factor,
                char *target) const;

  std::vector<MappedFile> files;
  std::map<Key, Entry> entries;
  std::map<Key, KeptPiece> kept; ///< that some rank holds
  std::set<std::string> tensors; ///< of the program
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CHECKPOINT_SHARDS_H
