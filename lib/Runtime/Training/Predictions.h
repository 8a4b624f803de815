//===- Predictions.h - the model's output for each sample -------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_PREDICTIONS_H
#define DTC_LIB_RUNTIME_TRAINING_PREDICTIONS_H

#include "Data/NpyWriter.h"
#include "Device/Arena.h"
#include "Program/Context.h"
#include "Program/Shard.h"

#include <optional>

namespace dtc::rt {

/// Writes the model's output (--predict) to an .npy array with a row for each
/// sample, in the order of the data. 16-bit floats are written as f32.
class Predictions {
public:
  /// Opens the file, on rank 0. Throws an Error if the program has no
  /// predictions, or if the file cannot be written.
  Predictions(const dtc_context &context, const Arena &arena,
              const std::string &path, int64_t samples);

  /// Keeps the rows that this rank has computed for a micro-batch.
  void take(int64_t microbatch, const void *rows, int64_t bytes);
  /// Writes the first rows of the global batch that was evaluated. Throws on
  /// rank 0 only. All ranks call this.
  void append(int64_t rows);
  void commit();

private:
  /// The ranks whose rows rank 0 gathers.
  std::vector<int> listHolders() const;
  void place(int rank, const char *from, int64_t rows);

  const dtc_context &context;
  const Arena &arena;
  const RecordInfo &info;
  dtc_dtype fileType;
  int64_t blockBytes;      ///< of a micro-batch on a rank
  std::vector<char> own;   ///< rows of this rank
  std::vector<char> batch; ///< of rank 0: rows, as the file has them
  std::vector<char> received;
  std::optional<NpyWriter> file; ///< of rank 0
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_PREDICTIONS_H
