//===- Synthetic.cpp - random samples of the right types ------------------===//

#include "Core/Elements.h"
#include "Core/Random.h"
#include "Source.h"

#include <algorithm>

using namespace dtc::rt;

namespace {

class Synthetic : public DataSource {
public:
  Synthetic(const Program &program, uint64_t seed)
      : program(program), seed(seed) {
    // The index is counted among data inputs, so that other inputs do not
    // change the numbers.
    std::vector<InputInfo> data;
    for (const InputInfo &input : program.inputs)
      if (input.isData())
        data.push_back(input);
    for (const InputInfo &input : program.inputs) {
      orders.push_back(
          input.isData() ? orderOf(data, input.name, &InputInfo::name) : 0);
      sampleElements.push_back(
          input.isData() ? elementCount(input.sampleShape()) : 0);
      // Without a bound, only 0 and 1 are valid for certain.
      bounds.push_back(input.bounds.empty() ? std::vector<int64_t>{0}
                                            : input.bounds);
      for (int64_t &bound : bounds.back())
        if (bound == 0 || input.dtype == DTC_BOOL)
          bound = 2;
    }
  }

  void load(int index, int64_t step, int64_t row, void *target) override {
    const InputInfo &input = program.inputs[index];
    RandomStream stream(seed, RandomUse::input, orders[index],
                        step * program.globalBatch + row);
    if (isFloat(input.dtype))
      return stream.fillNormal(input.dtype, target, sampleElements[index], 1);
    stream.fillIntegers(input.dtype, target, sampleElements[index],
                        bounds[index]);
  }

  std::string fingerprint() const override { return "synthetic"; }

private:
  const Program &program;
  uint64_t seed;
  std::vector<uint32_t> orders;
  std::vector<int64_t> sampleElements;
  std::vector<std::vector<int64_t>> bounds;
};

} // namespace

std::unique_ptr<DataSource> dtc::rt::makeSynthetic(const Program &program,
                                                   uint64_t seed) {
  return std::make_unique<Synthetic>(program, seed);
}
