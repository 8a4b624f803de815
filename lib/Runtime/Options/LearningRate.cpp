//===- LearningRate.cpp - the learning rate of each step ------------------===//

#include "LearningRate.h"

#include "Core/Error.h"

#include <cmath>

using namespace dtc::rt;

static const char *nameOf(LearningRateShape shape) {
  switch (shape) {
  case LearningRateShape::constant:
    return "constant";
  case LearningRateShape::linear:
    return "linear";
  case LearningRateShape::cosine:
    return "cosine";
  case LearningRateShape::oneCycle:
    return "one-cycle";
  }
  return "";
}

/// Half a cosine from one value to another, as p goes from 0 to 1.
static double anneal(double from, double to, double p) {
  return to + (from - to) * (1 + std::cos(M_PI * p)) / 2;
}

void LearningRateSchedule::check() const {
  if (warmup && *warmup >= steps)
    fail("--warmup-steps is %lld, expected fewer than the %lld --steps",
         (long long)*warmup, (long long)steps);
  if (warmup == 0 && shape == LearningRateShape::oneCycle)
    fail("--warmup-steps is 0, expected at least 1 for --lr-schedule "
         "one-cycle");
  if (minimum && shape == LearningRateShape::constant)
    fail("--min-lr has no meaning for --lr-schedule constant, expected "
         "linear, cosine or one-cycle");
  if (minimum && *minimum > peak)
    fail("--min-lr is %g, expected at most the learning rate, %g", *minimum,
         peak);
}

static double oneCycle(const LearningRateSchedule &schedule, double t) {
  double first = schedule.peak / 25;
  double last = schedule.minimum.value_or(first / 1e4);
  // Steps are numbers here as in PyTorch: the peak may lie between two.
  double top = schedule.warmup ? double(*schedule.warmup - 1)
                               : 0.3 * double(schedule.steps) - 1;
  if (t < top)
    return anneal(first, schedule.peak, t / top);
  return anneal(schedule.peak, last,
                (t - top) / (double(schedule.steps - 1) - top));
}

double LearningRateSchedule::at(int64_t step) const {
  double t = double(step - 1);
  if (shape == LearningRateShape::oneCycle)
    return oneCycle(*this, t);
  double rise = double(warmup.value_or(0));
  if (t < rise)
    return peak * t / rise;
  double p = (t - rise) / (double(steps) - rise);
  double last = minimum.value_or(0);
  switch (shape) {
  case LearningRateShape::linear:
    return peak + (last - peak) * p;
  case LearningRateShape::cosine:
    return anneal(peak, last, p);
  default:
    return peak;
  }
}

std::string LearningRateSchedule::describe() const {
  std::string text = format("lr=%g", peak);
  if (shape != LearningRateShape::constant)
    text += format(" %s", nameOf(shape));
  if (warmup)
    text += format(" warmup_steps=%lld", (long long)*warmup);
  if (minimum)
    text += format(" min_lr=%g", *minimum);
  return text;
}
