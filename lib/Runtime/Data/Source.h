//===- Source.h - where the samples of a training come from -----*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DATA_SOURCE_H
#define DTC_LIB_RUNTIME_DATA_SOURCE_H

#include "Core/Program.h"
#include "Device/Arena.h"

#include <memory>

namespace dtc::rt {

class DataSource {
public:
  virtual ~DataSource() = default;

  /// Writes input `input` of row `row` of the global batch of a step (counted
  /// from 0), in the input's type. Does not allocate.
  virtual void load(int input, int64_t step, int64_t row, void *target) = 0;

  /// How many there are; 0 if there is no end.
  virtual int64_t countSamples() const { return 0; }

  /// Where that row comes from, for messages.
  virtual std::string describeRow(int input, int64_t step, int64_t row) const;
};

struct DataOptions {
  std::string directory;
  uint64_t seed;
  bool shuffle;
  /// The ranks check a share of the samples each.
  int rank, ranks;
};

/// `<input>.npy` for every input, `labels.npy` or `<label>.npy` for labels,
/// mapped from a directory.
std::unique_ptr<DataSource> openDataset(const Program &program,
                                        const DataOptions &options);

/// Random samples of the right types: normal floats, whole numbers below the
/// input's bound.
std::unique_ptr<DataSource> makeSynthetic(const Program &program,
                                          uint64_t seed);

/// Fills a rank's input buffers in the arena for one step.
class BatchLoader {
public:
  /// With `ahead`, a step can be prepared while the device computes another.
  BatchLoader(const Program &program, int rank, DataSource &source,
              Arena &arena, bool ahead = false);
  /// Does nothing where that gains nothing.
  void prepare(int64_t step);
  void load(int64_t step);

private:
  struct Buffer {
    int input;
    int64_t offset;
    int64_t sampleBytes;
    int64_t bytes; ///< of all rows
  };
  void fill(const Buffer &buffer, int64_t step, char *target) const;

  const Program &program;
  DataSource &source;
  Arena &arena;
  int dataRank;
  std::vector<Buffer> buffers;
  std::unique_ptr<Inlet> inlet; ///< null: steps are not prepared
  int64_t prepared = -1;        ///< the step that is; -1: none
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DATA_SOURCE_H
