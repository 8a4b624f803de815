//===- Epochs.cpp - numbers of steps that are given in epochs -------------===//

#include "Epochs.h"

#include "Core/Error.h"

#include <algorithm>
#include <charconv>
#include <cmath>

using namespace dtc::rt;

std::optional<double> dtc::rt::parseEpochs(const std::string &text) {
  double value;
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || !std::isfinite(value) ||
      value <= 0)
    return std::nullopt;
  return value;
}

std::optional<double> dtc::rt::parseEpochUnit(const std::string &text) {
  if (!text.ends_with('e'))
    return std::nullopt;
  std::optional<double> value = parseEpochs(text.substr(0, text.size() - 1));
  if (!value)
    fail("found '%s', expected a number of epochs above 0, such as 1e or 0.5e",
         text.c_str());
  return value;
}

static int64_t toSteps(const Options &options, const EpochCount &count) {
  int64_t stepsPerEpoch = options.stepsPerEpoch;
  if (stepsPerEpoch == 0)
    fail("%s counts epochs, but %s data have no end; give %s", count.option,
         options.data == "synthetic" ? "synthetic" : "these",
         count.steps == &Options::steps ? "--steps N" : "a number of steps");
  double steps = std::round(count.epochs * double(stepsPerEpoch));
  if (steps > 0x1p53)
    fail("%s is %g epochs of %lld steps, expected fewer than 2^53 steps",
         count.option, count.epochs, (long long)stepsPerEpoch);
  return std::max<int64_t>(int64_t(steps), 1);
}

void dtc::rt::settleSteps(Options &options, int64_t stepsPerEpoch) {
  options.stepsPerEpoch = stepsPerEpoch;
  for (const EpochCount &count : options.epochCounts)
    options.*count.steps = toSteps(options, count);
  if (options.traceLast > options.steps)
    fail("--trace-steps: found '%lld-%lld', expected A-B, the first and the "
         "last step to record, of the %lld --steps",
         (long long)options.traceFirst, (long long)options.traceLast,
         (long long)options.steps);
  options.learningRate.steps = options.steps;
  options.learningRate.check();
}

std::string dtc::rt::describeEpochs(const Options &options) {
  for (const EpochCount &count : options.epochCounts)
    if (count.steps == &Options::steps)
      return format("%g epoch%s of %lld step%s", count.epochs,
                    count.epochs == 1 ? "" : "s",
                    (long long)options.stepsPerEpoch,
                    options.stepsPerEpoch == 1 ? "" : "s");
  return {};
}
