//===- OpTimes.cpp - times of kernels and library calls -------------------===//

#include "OpTimes.h"

#include "Core/Error.h"
#include "Device/DeviceClock.h"
#include "Trace.h"

#include <algorithm>
#include <map>
#include <set>

using namespace dtc::rt;

OpTimes::OpTimes(const Program &program, size_t capacity)
    : times(program.ops.size()) {
  calls.reserve(capacity);
}

void OpTimes::endStep(const DeviceClock *clock) {
  auto timeOf = [&](int64_t mark) {
    return clock ? clock->timeOf(mark) : mark;
  };
  for (const Call &call : calls) {
    OpTime &time = times.at(size_t(call.op));
    time.calls += 1;
    time.seconds += double(timeOf(call.end) - timeOf(call.begin)) / 1e9;
  }
}

std::vector<OpTime> OpTimes::gather(Collectives &collectives,
                                    int64_t steps) const {
  std::vector<OpTime> own = times;
  for (OpTime &time : own) {
    time.calls /= double(std::max<int64_t>(steps, 1));
    time.seconds /= double(std::max<int64_t>(steps, 1));
  }
  int64_t bytes = int64_t(own.size() * sizeof(OpTime));
  if (collectives.rank() > 0) {
    collectives.sendData(0, own.data(), bytes);
    return {};
  }
  std::vector<OpTime> sums = own;
  for (int rank = 1; rank < collectives.size(); ++rank) {
    collectives.recvData(rank, own.data(), bytes);
    for (size_t i = 0; i < own.size(); ++i) {
      sums[i].calls += own[i].calls;
      sums[i].seconds += own[i].seconds;
    }
  }
  for (OpTime &time : sums) {
    time.calls /= collectives.size();
    time.seconds /= collectives.size();
  }
  return sums;
}

namespace {

/// All ops of one name.
struct Row {
  double calls = 0, seconds = 0, flops = 0, bytes = 0;
  std::string node;
  double longest = 0; ///< seconds of that node's op
  std::set<std::string> nodes;

  void add(const OpInfo &op, const OpTime &time) {
    calls += time.calls;
    seconds += time.seconds;
    flops += time.calls * double(op.flops);
    bytes += time.calls * double(op.bytes);
    nodes.insert(op.node);
    if (time.seconds > longest) {
      longest = time.seconds;
      node = op.node;
    }
  }

  std::string describe(const std::string &name, double stepSeconds) const {
    auto rate = [&](double work) {
      return work > 0 && seconds > 0 ? format(" %8.3g", work / seconds / 1e9)
                                     : format(" %8s", "-");
    };
    return format("%-48.48s %8.4g %10.3f %5.1f %%", name.c_str(), calls,
                  seconds * 1e3, 100 * seconds / stepSeconds) +
           rate(flops) + rate(bytes);
  }
};

} // namespace

std::string dtc::rt::describeOps(const std::vector<OpInfo> &ops,
                                 const std::vector<OpTime> &times,
                                 double stepSeconds, size_t limit) {
  std::map<std::string, Row> byName;
  for (size_t i = 0; i < ops.size(); ++i)
    if (times[i].calls > 0)
      byName[ops[i].name].add(ops[i], times[i]);
  if (byName.empty())
    return {};
  std::vector<std::pair<std::string, Row>> rows(byName.begin(), byName.end());
  std::sort(rows.begin(), rows.end(), [](const auto &one, const auto &other) {
    return std::pair(-one.second.seconds, one.first) <
           std::pair(-other.second.seconds, other.first);
  });
  std::string text =
      format("%-48s %8s %10s %7s %8s %8s  %s\n", "kernels and library calls",
             "calls", "ms", "share", "GFLOP/s", "GB/s", "node");
  Row rest, all;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto &[name, row] = rows[i];
    for (Row *sum : {i < limit ? nullptr : &rest, &all})
      if (sum) {
        sum->calls += row.calls;
        sum->seconds += row.seconds;
        sum->flops += row.flops;
        sum->bytes += row.bytes;
      }
    if (i >= limit)
      continue;
    text += row.describe(name, stepSeconds);
    if (!row.node.empty())
      text += "  " + row.node;
    if (!row.node.empty() && row.nodes.size() > 1)
      text += format(" and %zu more", row.nodes.size() - 1);
    text += "\n";
  }
  if (rows.size() > limit)
    text +=
        rest.describe(format("%zu others", rows.size() - limit), stepSeconds) +
        "\n";
  return text + all.describe("all of them", stepSeconds) + "\n";
}
