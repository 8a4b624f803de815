//===- Tuning.cpp - the fastest way to compute, as measured ---------------===//

#include "Tuning.h"

#include <algorithm>
#include <cmath>

using namespace dtc::rt;

/// The share of time that a way must save to replace the first: less is noise.
static constexpr double leastGain = 0.02;
/// Measurements of each way, unless all together take longer than
/// mostSeconds: other ranks wait.
static constexpr int mostRounds = 5;
static constexpr double mostSeconds = 1;

size_t Tuning::choose(const std::string &what,
                      const std::vector<std::string> &ways,
                      const std::function<double(size_t)> &seconds) {
  auto numberOf = [&](const std::string &way) {
    return size_t(std::ranges::find(ways, way) - ways.begin());
  };
  if (auto found = known.find(what); found != known.end())
    if (size_t number = numberOf(found->second); number < ways.size())
      return number;
  if (!isFirstStep || ways.size() == 1 || measured.contains(what))
    return 0;
  // All ways take turns, so that other load affects them alike.
  std::vector<double> least(ways.size(), INFINITY);
  double total = 0;
  for (int round = 0; round < mostRounds && total < mostSeconds; ++round)
    for (size_t i = 0; i < ways.size(); ++i) {
      double time = seconds(i);
      least[i] = std::min(least[i], time);
      total += time;
    }
  auto fastest = size_t(std::ranges::min_element(least) - least.begin());
  if (least[fastest] > (1 - leastGain) * least[0])
    fastest = 0;
  measured[what] = ways[fastest];
  return 0;
}
