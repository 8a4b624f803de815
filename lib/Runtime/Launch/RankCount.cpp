//===- RankCount.cpp - the number of ranks that a plan needs --------------===//

#include "RankCount.h"

#include "Core/Error.h"

using namespace dtc::rt;

/// The command that starts the right number of ranks, for messages.
static std::string launchCommand(int ranks, int argc, char **argv) {
  std::string command = format("mpirun --oversubscribe -n %d", ranks);
  for (int i = 0; i < argc; ++i)
    command += std::string(" ") + argv[i];
  return command;
}

void dtc::rt::checkRankCount(const Program &program, int found, int argc,
                             char **argv) {
  int expected = program.mesh.size();
  if (found == expected && program.mesh.openAxis < 0)
    return;
  std::string command = expected == 1 ? std::string(argv[0])
                                      : launchCommand(expected, argc, argv);
  fail("found %d rank%s, expected %s; start it with: %s", found,
       found == 1 ? "" : "s", program.describeRanks().c_str(), command.c_str());
}
