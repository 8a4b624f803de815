//===- Source.h - samples of a training -------------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DATA_SOURCE_H
#define DTC_LIB_RUNTIME_DATA_SOURCE_H

#include "Agreement/FileAgreement.h"
#include "Device/Arena.h"
#include "Program/Program.h"
#include "ReadAhead.h"
#include "Shuffle.h"

#include <memory>

namespace dtc::rt {

class DataSource {
public:
  virtual ~DataSource() = default;

  /// Writes input `input` of row `row` of the global batch of a step (counted
  /// from 0), in the input's type. Does not allocate.
  virtual void load(int input, int64_t step, int64_t row, void *target) = 0;

  /// Tells the system which rows are loaded soon. Does not allocate.
  virtual void willNeed(int64_t, int64_t) const {}

  /// A description of the data for checkpoints, in one line: number of samples,
  /// files and their sizes. It is the same under every plan, and after a folder
  /// was moved.
  virtual std::string fingerprint() const = 0;

  /// The files that are read, by names within the folder.
  virtual std::vector<ComparedFile> files() const { return {}; }

  /// The number of samples; 0 if there is no end.
  virtual int64_t countSamples() const { return 0; }

  /// The steps of an epoch, without samples that do not fill a batch; 0 if
  /// there is no end.
  virtual int64_t stepsPerEpoch() const { return 0; }

  /// Describes the source of a row, for messages.
  virtual std::string describeRow(int input, int64_t step, int64_t row) const;
};

struct DataOptions {
  std::string directory;
  uint64_t seed;
  bool shuffle;
  /// The ranks check a share of the samples each.
  int rank, ranks;
  std::string transform = {};   ///< of images; empty: none
  bool randomTransform = false; ///< whether crops and mirrors are drawn
  /// Samples in EvaluationOrder, for evaluations. A step is one run of it.
  bool everySample = false;
};

/// The arrays, streams of tokens and images of a directory, mapped into memory:
/// docs/Data.md.
std::unique_ptr<DataSource> openDataset(const Program &program,
                                        const DataOptions &options);

/// Random samples of the right types: normal floats, whole numbers below the
/// input's bound.
std::unique_ptr<DataSource> makeSynthetic(const Program &program,
                                          uint64_t seed);

/// The division of a program's global batch.
RowPartition getPartition(const Program &program);

/// Fills a rank's input buffers in the arena for one step.
class BatchLoader {
public:
  /// With `ahead`, a step can be prepared while the device computes another.
  /// With `prefetch` above 0, a thread reads so many steps ahead, but none from
  /// step `end` on.
  BatchLoader(const Program &program, int rank, DataSource &source,
              Arena &arena, bool ahead = false, int prefetch = 0,
              int64_t end = 0);
  BatchLoader(const BatchLoader &) = delete; ///< its thread knows its address
  /// Later steps load this share of their batches. For steps that are neither
  /// prepared nor read ahead.
  void takeShare(int64_t share) {
    int ofWorker = program.batchRanks() / program.countWorkers();
    dataRank = int(share) * ofWorker + dataRank % ofWorker;
  }
  /// Does nothing if it saves no time.
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
  /// All buffers, one after the other.
  void fillAll(int64_t step, char *target) const;
  void fillAhead(int64_t step, char *target) const;

  const Program &program;
  DataSource &source;
  Arena &arena;
  int dataRank; ///< among those that share the batch
  std::vector<Buffer> buffers;
  int64_t totalBytes = 0;            ///< of all buffers
  std::unique_ptr<ReadAhead> reader; ///< null: rows are read when needed
  std::unique_ptr<Inlet> inlet;      ///< null: steps are not prepared
  int64_t prepared = -1;             ///< the step that is; -1: none
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DATA_SOURCE_H
