//===- RankWatch.cpp - an mpirun without ranks ----------------------------===//

#include "RankWatch.h"

#include "System/OtherProcess.h"

#include <unistd.h>

using namespace dtc::rt;

bool RankWatch::isWithoutRanks(std::chrono::seconds limit) {
  Clock::time_point now = Clock::now();
  if (hasRanks())
    latestRank = now;
  return now - latestRank > limit;
}

bool RankWatch::hasRanks() {
  std::optional<std::vector<pid_t>> children = runningChildren(launcher);
  mayHaveRemoteRanks |= !children;
  bool found = false;
  for (pid_t child : children.value_or(std::vector<pid_t>())) {
    if (runsProgramOf(child, getpid()) == true)
      found = true;
    // A child that runs another program, such as ssh, starts ranks on another
    // machine and may end before them. Nothing here shows those ranks.
    else if (runsProgramOf(child, launcher) == false)
      mayHaveRemoteRanks = true;
  }
  return found || mayHaveRemoteRanks;
}
