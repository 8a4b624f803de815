//===- Profile.cpp - the time of a step, by cause -------------------------===//

#include "Profile.h"

#include "Core/Error.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace dtc::rt;

void Profile::add(int rank, const std::string &name, Kind kind, double seconds,
                  int64_t bytes) {
  Row &row = rows.try_emplace(name, Row{kind}).first->second;
  ++row.calls;
  row.bytes += bytes;
  row.seconds += seconds;
  if (kind == Kind::compute)
    times[rank].compute += seconds;
  if (kind == Kind::communicate)
    times[rank].wait += seconds;
}

double Profile::stepSeconds() const {
  double sum = 0;
  for (const Times &own : times)
    sum += own.step;
  return sum / double(steps) / double(times.size());
}

std::string Profile::describe() const {
  if (steps == 0)
    return "no step was recorded\n";
  double step = 0;
  for (const Times &own : times)
    step += own.step;
  std::vector<std::pair<std::string, Row>> sorted(rows.begin(), rows.end());
  std::sort(
      sorted.begin(), sorted.end(), [](const auto &one, const auto &other) {
        return std::tuple(one.second.kind, -one.second.seconds, one.first) <
               std::tuple(other.second.kind, -other.second.seconds,
                          other.first);
      });
  double perStep = 1 / double(steps) / double(times.size());
  std::string text =
      format("%-34s %8s %10s %7s %11s %8s\n", "of a rank and step, mean",
             "calls", "ms", "share", "bytes", "GB/s");
  for (const auto &[name, row] : sorted) {
    text += format("%-34s %8.4g %10.3f", name.c_str(),
                   double(row.calls) * perStep, row.seconds * 1e3 * perStep);
    // Operations in flight are no part of the step's time.
    text += row.kind == Kind::inFlight
                ? format(" %7s", "-")
                : format(" %5.1f %%", 100 * row.seconds / step);
    if (row.bytes)
      text += format(" %11s %8.3g",
                     formatBytes(double(row.bytes) * perStep).c_str(),
                     double(row.bytes) / row.seconds / 1e9);
    text += "\n";
  }
  text += format("%-34s %8s %10.3f %5.1f %%\n", "step", "1",
                 step * 1e3 * perStep, 100.0);
  return text + describeSlowest();
}

std::string Profile::describeSlowest() const {
  int ranks = int(times.size());
  if (ranks < 2)
    return {};
  std::vector<int> order(times.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int one, int other) {
    return std::pair(times[one].compute, one) <
           std::pair(times[other].compute, other);
  });
  int slowest = order.back();
  double median = (times[order[(ranks - 1) / 2]].compute +
                   times[order[ranks / 2]].compute) /
                  2;
  double wait = 0, step = 0;
  for (int rank = 0; rank < ranks; ++rank)
    if (rank != slowest) {
      wait += times[rank].wait;
      step += times[rank].step;
    }
  return format("%s computes %.2f times the median of the ranks; the others "
                "spend %.0f %% of a step in communication and waiting, it "
                "%.0f %%\n",
                names[slowest].c_str(), times[slowest].compute / median,
                100 * wait / step,
                100 * times[slowest].wait / times[slowest].step);
}
