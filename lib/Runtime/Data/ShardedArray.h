//===- ShardedArray.h - one array in one or more files ----------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DATA_SHARDEDARRAY_H
#define DTC_LIB_RUNTIME_DATA_SHARDEDARRAY_H

#include "Npy.h"

#include <optional>

namespace dtc::rt {

/// The arrays of several files, concatenated along the first dimension.
/// Elements have one numbering, so the division into files does not change the
/// data.
class ShardedArray {
public:
  /// Throws an Error unless all shards have one type, and one shape except for
  /// the first dimension.
  explicit ShardedArray(std::vector<Npy> shards);

  dtc_dtype dtype() const { return shards[0].dtype(); }
  const std::string &descr() const { return shards[0].descr(); }
  /// The shape of all shards together; empty for a scalar.
  const std::vector<int64_t> &shape() const { return fullShape; }
  /// The file, or the first of several, for messages.
  const std::string &path() const { return shards[0].path(); }
  const std::vector<Npy> &files() const { return shards; }

  /// Converts elements first .. first + count - 1.
  void read(int64_t first, int64_t count, dtc_dtype type, void *target) const;
  /// Tells the system that they are read soon.
  void willNeed(int64_t first, int64_t count) const;

  /// The first of these elements that is outside the range, or -1.
  int64_t findOutside(int64_t first, int64_t count, const IntegerRange &range,
                      std::string &value) const;

  /// Finds the file of an element, and the element's index in it.
  const Npy &fileOf(int64_t element) const { return shards[shardOf(element)]; }
  int64_t offsetInFile(int64_t element) const {
    return element - starts[shardOf(element)];
  }

private:
  /// Calls body(shard, offset of the first byte, elements) for each shard of a
  /// range, in order.
  template <typename Body>
  void forShards(int64_t first, int64_t count, Body body) const;
  size_t shardOf(int64_t element) const;

  std::vector<Npy> shards;
  std::vector<int64_t> starts; ///< first element of each shard, and the end
  std::vector<int64_t> fullShape;
};

/// Finds the array `name` of a folder: `name.npy`, `name-000.npy` and so on, or
/// the .npy files of a folder `name`. Empty if there is none. Throws an Error
/// if there are several of these, or a shard is missing.
std::optional<ShardedArray> findArray(const std::string &directory,
                                      const std::string &name);

/// The stream `tokens` of a folder: as `findArray`, or raw numbers, of u16 in
/// files that end in .bin, of u32 in files that end in .u32.bin.
std::optional<ShardedArray> findTokens(const std::string &directory);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DATA_SHARDEDARRAY_H
