//===- RankTime.cpp - the time of a step on a rank ------------------------===//
//
// Applies a topology's costs to the counts of the report. Collectives of one
// kind over the same ranks add up, so sums of counts and bytes are enough.
//
//===----------------------------------------------------------------------===//

#include "dtc/Plan/Skeleton.h"
#include "dtc/Report/Report.h"

using namespace mlir;
using namespace dtc;

double RankTime::getCommunication() const {
  double seconds = 0;
  for (auto &entry : collectives)
    seconds += entry.second;
  for (auto &entry : sends)
    seconds += entry.second;
  return seconds;
}

RankTime RankTime::get(int64_t rank, const Ranks &ranks,
                       const StageReport &does, const Topology &topology) {
  RankTime time;
  time.rank = rank;
  time.stage = ranks.getCoordinate(rank, stageAxis);
  time.node = topology.getNode(rank);
  time.compute = (does.forwardFlops + does.backwardFlops + does.weightFlops +
                  does.onceFlops) /
                 topology.flops;
  for (auto &[own, traffic] : does.collectives)
    time.collectives[own] = topology.getCollectiveSeconds(
        own.kind,
        ranks.getGroup(
            rank, SmallVector<StringRef>(own.axes.begin(), own.axes.end())),
        traffic.count, traffic.bytes);
  for (auto &[stage, traffic] : does.sends)
    time.sends[stage] =
        topology.getMessageSeconds(rank, ranks.getPeer(rank, stageAxis, stage),
                                   traffic.count, traffic.bytes);
  return time;
}

std::vector<const RankTime *> Report::getSlowestRanks() const {
  if (times.empty())
    return {};
  std::vector<const RankTime *> slowest(stages.size());
  for (const RankTime &time : times) {
    const RankTime *&found = slowest[time.stage];
    if (!found || time.getCommunication() > found->getCommunication())
      found = &time;
  }
  return slowest;
}
