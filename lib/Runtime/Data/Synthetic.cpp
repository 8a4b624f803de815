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
    // Among data: what else a program has as inputs changes none of them.
    std::vector<InputInfo> data;
    for (const InputInfo &input : program.inputs)
      if (input.isData())
        data.push_back(input);
    for (const InputInfo &input : program.inputs) {
      orders.push_back(
          input.isData() ? orderOf(data, input.name, &InputInfo::name) : 0);
      sampleElements.push_back(
          input.isData() ? elementCount(input.sampleShape()) : 0);
    }
  }

  void load(int index, int64_t step, int64_t row, void *target) override {
    const InputInfo &input = program.inputs[index];
    RandomStream stream(seed, RandomUse::input, orders[index],
                        step * program.globalBatch + row);
    if (isFloat(input.dtype))
      return stream.fillNormal(input.dtype, target, sampleElements[index], 1);
    // Without a bound only 0 and 1 are sure to be right.
    uint64_t bound = input.bound > 0 ? input.bound : 2;
    if (input.dtype == DTC_BOOL)
      bound = std::min<uint64_t>(bound, 2);
    stream.fillIntegers(input.dtype, target, sampleElements[index], bound);
  }

  std::string fingerprint() const override { return "synthetic"; }

private:
  const Program &program;
  uint64_t seed;
  std::vector<uint32_t> orders;
  std::vector<int64_t> sampleElements;
};

} // namespace

std::unique_ptr<DataSource> dtc::rt::makeSynthetic(const Program &program,
                                                   uint64_t seed) {
  return std::make_unique<Synthetic>(program, seed);
}
