//===- Dataset.cpp - samples from a directory of .npy files ---------------===//

#include "Core/Elements.h"
#include "Core/Error.h"
#include "Npy.h"
#include "Shuffle.h"
#include "Source.h"

#include <algorithm>
#include <optional>

using namespace dtc::rt;

namespace {

class Dataset : public DataSource {
public:
  Dataset(const Program &program, const DataOptions &options);

  void load(int index, int64_t step, int64_t row, void *target) override {
    const Npy &file = *files[index];
    const Layout &layout = layouts[index];
    int64_t sample = order->sample(step, row);
    convert(file.dtype(),
            file.data() + sample * layout.elements * layout.elementBytes,
            program.inputs[index].dtype, target, layout.elements);
  }

  int64_t countSamples() const override { return samples; }

  std::string describeRow(int index, int64_t step, int64_t row) const override {
    return format("sample %lld of '%s'", (long long)order->sample(step, row),
                  files[index]->path().c_str());
  }

private:
  struct Layout {
    int64_t elements, elementBytes; ///< of a sample in the file
  };

  Npy open(const InputInfo &input, const std::string &directory) const;
  void checkFile(const InputInfo &input, const Npy &file) const;
  void checkValues(const InputInfo &input, const Npy &file, int rank,
                   int ranks) const;

  const Program &program;
  std::vector<std::optional<Npy>> files; ///< by input
  std::vector<Layout> layouts;
  int64_t samples = 0;
  std::optional<SampleOrder> order;
};

} // namespace

Npy Dataset::open(const InputInfo &input, const std::string &directory) const {
  std::string path = directory + "/" + input.name + ".npy";
  if (fileExists(path))
    return Npy(path);
  if (input.kind == InputKind::label) {
    std::string labels = directory + "/labels.npy";
    if (!fileExists(labels)) {
      std::string other =
          path == labels ? "" : format(" (or '%s')", path.c_str());
      std::vector<int64_t> sample = input.sampleShape();
      fail("found no file '%s'%s with the labels, expected %s of shape "
           "[samples%s",
           labels.c_str(), other.c_str(), nameOf(input.dtype),
           sample.empty() ? "]"
                          : formatShape(sample).replace(0, 1, ", ").c_str());
    }
    return Npy(labels);
  }
  fail("found no file '%s', expected one with input '%s', %s of shape "
       "[samples, ...] with samples of %s",
       path.c_str(), input.name.c_str(), nameOf(input.dtype),
       formatShape(input.sampleShape()).c_str());
}

void Dataset::checkFile(const InputInfo &input, const Npy &file) const {
  std::vector<int64_t> sample = input.sampleShape();
  const std::vector<int64_t> &shape = file.shape();
  if (shape.empty() ||
      !std::equal(shape.begin() + 1, shape.end(), sample.begin(), sample.end()))
    fail("'%s' has shape %s, expected samples of shape %s after the first "
         "dimension, as input '%s' has",
         file.path().c_str(), formatShape(shape).c_str(),
         formatShape(sample).c_str(), input.name.c_str());
  if (!isConvertible(file.dtype(), input.dtype))
    fail("'%s' has element type '%s', expected whole numbers for input '%s' "
         "(%s)",
         file.path().c_str(), file.descr().c_str(), input.name.c_str(),
         nameOf(input.dtype));
}

/// An index out of range would read outside a table, so this is checked for
/// the whole file before the first step; the ranks take a share each.
void Dataset::checkValues(const InputInfo &input, const Npy &file, int rank,
                          int ranks) const {
  if (isFloat(input.dtype))
    return;
  IntegerRange range = rangeOf(input.dtype);
  if (input.bound > 0)
    range = {0, input.bound - 1, input.ignoreIndex.value_or(0)};
  int64_t samples = file.shape()[0];
  int64_t elements = elementCount(input.sampleShape());
  int64_t first = samples * rank / ranks, last = samples * (rank + 1) / ranks;
  std::string value;
  int64_t at = findOutside(
      file.dtype(), file.data() + first * elements * sizeOf(file.dtype()),
      (last - first) * elements, range, value);
  if (at >= 0)
    fail("'%s' has value %s in sample %lld, expected %lld to %lld for input "
         "'%s'",
         file.path().c_str(), value.c_str(), (long long)(first + at / elements),
         (long long)range.low, (long long)range.high, input.name.c_str());
}

Dataset::Dataset(const Program &program, const DataOptions &options)
    : program(program), files(program.inputs.size()),
      layouts(program.inputs.size()) {
  if (!fileExists(options.directory))
    fail("found no data directory '%s'; give a directory of .npy files, or "
         "--data synthetic",
         options.directory.c_str());
  const Npy *reference = nullptr;
  for (size_t i = 0; i < files.size(); ++i) {
    const InputInfo &input = program.inputs[i];
    if (!input.isData())
      continue;
    const Npy &file = files[i].emplace(open(input, options.directory));
    checkFile(input, file);
    layouts[i] = {elementCount(input.sampleShape()), sizeOf(file.dtype())};
    if (!reference)
      reference = &file;
    if (file.shape()[0] != reference->shape()[0])
      fail("'%s' has %lld samples, but '%s' has %lld; expected the same number",
           file.path().c_str(), (long long)file.shape()[0],
           reference->path().c_str(), (long long)reference->shape()[0]);
  }
  if (!reference)
    return; // a program without inputs
  samples = reference->shape()[0];
  if (samples < program.globalBatch)
    fail("'%s' has %lld samples, expected at least one global batch of %lld",
         reference->path().c_str(), (long long)samples,
         (long long)program.globalBatch);
  order.emplace(samples, program.globalBatch, options.seed, options.shuffle);
  for (size_t i = 0; i < files.size(); ++i)
    if (files[i])
      checkValues(program.inputs[i], *files[i], options.rank, options.ranks);
}

std::unique_ptr<DataSource> dtc::rt::openDataset(const Program &program,
                                                 const DataOptions &options) {
  return std::make_unique<Dataset>(program, options);
}
