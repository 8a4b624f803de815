//===- Shuffle.h - the order of samples -------------------------*- C++ -*-===//
//
// The order of samples depends only on the seed, the step and the row of the
// global batch. So every plan sees the same batches, and a rank computes its
// rows by itself.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DATA_SHUFFLE_H
#define DTC_LIB_RUNTIME_DATA_SHUFFLE_H

#include <cstdint>
#include <vector>

namespace dtc::rt {

/// The i-th element of a random permutation of 0 .. size-1, in constant time
/// and without memory: a Feistel network over the next even number of bits,
/// walked until it lands below `size`.
class Permutation {
public:
  Permutation(int64_t size, uint64_t seed, uint32_t epoch);
  int64_t operator[](int64_t index) const;

private:
  int64_t size;
  uint64_t seed;
  uint32_t epoch;
  int halfBits;
};

/// The samples of an epoch, in batches. Samples that do not fill the last batch
/// are left out.
class SampleOrder {
public:
  SampleOrder(int64_t samples, int64_t batch, uint64_t seed, bool shuffle)
      : samples(samples), batch(batch), seed(seed), shuffle(shuffle) {}

  int64_t stepsPerEpoch() const { return samples / batch; }
  /// Steps and epochs count from 0.
  int64_t epoch(int64_t step) const { return step / stepsPerEpoch(); }
  int64_t sample(int64_t step, int64_t row) const;

private:
  int64_t samples, batch;
  uint64_t seed;
  bool shuffle;
};

/// Every sample once, in order, in runs of one batch each. Samples that do not
/// fill a batch are divided into runs of a number of samples that divides the
/// batch: each of them stands in equally many rows.
class EvaluationOrder {
public:
  struct Run {
    int64_t first, samples;
  };

  EvaluationOrder(int64_t samples, int64_t batch);
  int64_t runs() const { return whole + int64_t(rest.size()); }
  Run run(int64_t index) const;
  /// The first rows of a run are its samples, in order.
  int64_t sample(int64_t run, int64_t row) const;

private:
  int64_t batch, whole;  ///< runs that are whole batches
  std::vector<Run> rest; ///< the others
};

/// The division of a global batch: row block (m, d) of M x dp equal blocks
/// belongs to micro-batch m of dp coordinate d.
struct RowPartition {
  int64_t microbatches, ranks, blockRows;
  int64_t workers = 1; ///< whose batches follow each other

  /// Rows of one rank, over all micro-batches.
  int64_t localRows() const { return microbatches * blockRows; }
  /// The global row of the rank's `local`-th row.
  int64_t globalRow(int64_t rank, int64_t local) const {
    int64_t microbatch = local / blockRows, ofWorker = ranks / workers;
    int64_t worker = rank / ofWorker;
    int64_t block =
        (worker * microbatches + microbatch) * ofWorker + rank % ofWorker;
    return block * blockRows + local % blockRows;
  }
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DATA_SHUFFLE_H
