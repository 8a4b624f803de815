//===- NotFinite.cpp - why a loss is no number ----------------------------===//

#include "NotFinite.h"

#include "Collectives/Collectives.h"
#include "Core/Elements.h"
#include "Core/Error.h"
#include "Device/ArenaValues.h"
#include "Program/Shard.h"

#include <cmath>

using namespace dtc::rt;

namespace {

/// Reads the samples of one step's global batch again.
class Batch {
public:
  Batch(const Program &program, DataSource &source, int64_t step)
      : program(program), source(source), step(step) {}

  /// Describes the first float that is NaN or infinite; empty if there is none.
  std::string findNotFinite();
  /// Describes a label input without any label that counts.
  std::string findIgnored();

private:
  /// The elements of a row, as doubles.
  const std::vector<double> &read(int input, int64_t row);

  const Program &program;
  DataSource &source;
  int64_t step;
  std::vector<char> bytes;
  std::vector<double> values;
};

} // namespace

const std::vector<double> &Batch::read(int input, int64_t row) {
  const InputInfo &info = program.inputs[input];
  int64_t count = elementCount(info.sampleShape());
  bytes.resize(count * sizeOf(info.dtype));
  values.resize(count);
  source.load(input, step - 1, row, bytes.data());
  convert(info.dtype, bytes.data(), DTC_F64, values.data(), count);
  return values;
}

std::string Batch::findNotFinite() {
  for (int input = 0; input < int(program.inputs.size()); ++input) {
    const InputInfo &info = program.inputs[input];
    if (!info.isData() || !isFloat(info.dtype))
      continue;
    for (int64_t row = 0; row < program.globalBatch; ++row)
      for (double value : read(input, row))
        if (!std::isfinite(value))
          return format("input '%s' has %s in %s", info.name.c_str(),
                        std::isnan(value) ? "a NaN" : "an infinity",
                        source.describeRow(input, step - 1, row).c_str());
  }
  return {};
}

std::string Batch::findIgnored() {
  for (int input = 0; input < int(program.inputs.size()); ++input) {
    const InputInfo &info = program.inputs[input];
    if (!info.ignoreIndex)
      continue;
    bool all = true;
    for (int64_t row = 0; row < program.globalBatch && all; ++row)
      for (double value : read(input, row))
        all &= value == double(*info.ignoreIndex);
    if (all)
      return format("all labels of step %lld are ignored (%lld)",
                    (long long)step, (long long)*info.ignoreIndex);
  }
  return {};
}

std::string dtc::rt::explainNotFinite(const Program &program,
                                      DataSource &source, int64_t step) {
  Batch batch(program, source, step);
  std::string found = batch.findNotFinite();
  if (found.empty())
    found = batch.findIgnored();
  if (!found.empty())
    return found;
  // The first loss comes before the first update.
  if (step == 1)
    return std::string("its data are finite: look at the initial weights") +
           (program.dtype == "f64" ? "" : ", or try --dtype f64 of dtc");
  return "its data are finite: consider a lower --lr";
}

std::string dtc::rt::findNotFiniteGradient(const dtc_context &context,
                                           const Arena &arena) {
  const Program &program = context.program;
  for (const Stage::Parameter &entry : context.plan().parameters) {
    if (!entry.gradient)
      continue;
    const ParameterInfo &parameter = program.parameters[entry.index];
    Piece piece = pieceOf(parameter, *entry.gradient, program.mesh,
                          context.collectives.rank());
    const char *found = nullptr;
    forEachPart(arena, piece.offset, parameter.dtype, piece.count,
                [&](std::span<const double> part) {
                  for (double value : part)
                    if (!std::isfinite(value) && !found)
                      found = std::isnan(value) ? "a NaN" : "an infinity";
                  return !found;
                });
    if (found)
      return format("the gradient of '%s' has %s", parameter.tensor.c_str(),
                    found);
  }
  return {};
}
