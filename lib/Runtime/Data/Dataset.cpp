//===- Dataset.cpp - samples from a directory of arrays -------------------===//

#include "Core/Checksum.h"
#include "Core/Error.h"
#include "Fields.h"
#include "Shuffle.h"
#include "Source.h"

#include <filesystem>

using namespace dtc::rt;

namespace {

class Dataset : public DataSource {
public:
  Dataset(const Program &program, const DataOptions &options);

  void load(int index, int64_t step, int64_t row, void *target) override {
    fields[index]->load(sampleAt(step, row), order ? order->epoch(step) : 0,
                        target);
  }

  void willNeed(int64_t step, int64_t row) const override {
    int64_t sample = sampleAt(step, row);
    for (const std::unique_ptr<Field> &field : fields)
      if (field)
        field->willNeed(sample);
  }

  int64_t countSamples() const override { return samples; }

  int64_t stepsPerEpoch() const override {
    return order ? order->stepsPerEpoch() : 0;
  }

  std::string describeRow(int index, int64_t step, int64_t row) const override {
    return fields[index]->describe(sampleAt(step, row));
  }

  std::string fingerprint() const override;
  std::vector<ComparedFile> files() const override;

private:
  void countSamples(const DataOptions &options);
  int64_t sampleAt(int64_t step, int64_t row) const {
    return order ? order->sample(step, row)
                 : evaluationOrder->sample(step, row);
  }

  const Program &program;
  std::vector<std::unique_ptr<Field>> fields; ///< by input; null: no data
  std::string directory;
  int64_t samples = 0;
  std::optional<SampleOrder> order; ///< of a training
  std::optional<EvaluationOrder> evaluationOrder;
};

} // namespace

/// Checks that all fields have the same number of samples. A stream of tokens
/// may end a token earlier for labels.
void Dataset::countSamples(const DataOptions &options) {
  const Field *reference = nullptr;
  for (const std::unique_ptr<Field> &field : fields) {
    if (!field)
      continue;
    if (!reference) {
      reference = field.get();
      samples = field->samples();
    }
    if (field->isStream() && reference->isStream())
      samples = std::min(samples, field->samples());
    else if (field->samples() != samples)
      fail("'%s' has %lld samples, but '%s' has %lld; expected the same number",
           field->array().path().c_str(), (long long)field->samples(),
           reference->array().path().c_str(), (long long)samples);
  }
  if (!reference)
    return; // a program without inputs
  if (options.everySample) {
    if (samples == 0)
      fail("'%s' has no samples, expected one or more",
           reference->array().path().c_str());
    evaluationOrder.emplace(samples, program.globalBatch);
    return;
  }
  if (samples < program.globalBatch)
    fail("'%s' has %lld samples, expected at least one global batch of %lld",
         reference->array().path().c_str(), (long long)samples,
         (long long)program.globalBatch);
  order.emplace(samples, program.globalBatch, options.seed, options.shuffle);
}

Dataset::Dataset(const Program &program, const DataOptions &options)
    : program(program), directory(options.directory) {
  if (!fileExists(directory))
    fail("found no data directory '%s'; give a directory of .npy files, or "
         "--data synthetic",
         directory.c_str());
  if (!std::filesystem::is_directory(directory))
    fail("'%s' is no directory, expected one of .npy files", directory.c_str());
  fields = openFields(program, options);
  countSamples(options);
  for (const std::unique_ptr<Field> &field : fields)
    if (field)
      field->checkValues(options.rank, options.ranks);
}

std::vector<ComparedFile> Dataset::files() const {
  std::vector<ComparedFile> files;
  std::set<std::string> seen; // a stream of tokens serves several inputs
  for (const std::unique_ptr<Field> &field : fields)
    if (field)
      for (const Npy &file : field->array().files())
        if (seen.insert(file.path()).second)
          files.push_back(
              {file.path().substr(directory.size() + 1), file.bytes()});
  return files;
}

/// A checksum of names and sizes: moved folders have the same fingerprint.
std::string Dataset::fingerprint() const {
  std::string list;
  size_t count = 0, bytes = 0;
  for (const ComparedFile &file : files()) {
    list += format("/%s %zu\n", file.name.c_str(), file.bytes.size());
    bytes += file.bytes.size();
    ++count;
  }
  return format("%lld samples, %zu files, %zu bytes, %016llx",
                (long long)samples, count, bytes,
                (unsigned long long)Checksum::of(list));
}

std::unique_ptr<DataSource> dtc::rt::openDataset(const Program &program,
                                                 const DataOptions &options) {
  return std::make_unique<Dataset>(program, options);
}
