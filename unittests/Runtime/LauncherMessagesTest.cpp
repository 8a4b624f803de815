//===- LauncherMessagesTest.cpp - mpirun's messages -----------------------===//

#include "Launch/LauncherMessages.h"

#include <gtest/gtest.h>

using dtc::rt::LauncherMessages;

namespace {

const std::string dashes = std::string(74, '-') + "\n";
const std::string error = "t: rank 1: error: no data\n";
const std::string pages =
    dashes +
    "Primary job  terminated normally, but 1 process returned\n"
    "a non-zero exit code. Per user-direction, the job has been aborted.\n" +
    dashes + dashes +
    "mpirun detected that one or more processes exited with non-zero status, "
    "thus causing\nthe job to be terminated. The first process to do so was:\n"
    "\n  Process name: [[1,1],0]\n  Exit code:    1\n" +
    dashes;

std::string filter(const std::string &text, bool failed, size_t piece) {
  LauncherMessages messages;
  std::string shown;
  for (size_t at = 0; at < text.size(); at += piece)
    shown += messages.add(text.substr(at, piece));
  return shown + messages.finish("t", failed);
}

} // namespace

TEST(LauncherMessages, ErrorOfARankIsTheLastLine) {
  for (size_t piece : {1, 7, 4096}) {
    EXPECT_EQ(filter(error + pages, true, piece), error);
    EXPECT_EQ(filter(error + pages +
                         "[vm:7] 2 more processes have sent help message "
                         "help-mpi-api.txt / mpi-abort\n[vm:7] Set MCA "
                         "parameter \"orte_base_help_aggregate\" to 0\n",
                     true, piece),
              error);
  }
}

TEST(LauncherMessages, WithoutAnErrorTheCauseIsOneLine) {
  std::string killed =
      dashes +
      "mpirun noticed that process rank 3 with PID 0 on node vm exited on\n"
      "signal 9 (Killed).\n" +
      dashes;
  EXPECT_EQ(filter("t: warning: slow\n" + killed, true, 5),
            "t: warning: slow\nt: error: mpirun noticed that process rank 3 "
            "with PID 0 on node vm exited on signal 9 (Killed).\n");
  EXPECT_EQ(filter(killed, false, 5), "");
}

TEST(LauncherMessages, OtherTextIsLeftAsItIs) {
  std::string slots =
      dashes + "There are not enough slots available\n" + dashes;
  EXPECT_EQ(filter(slots, true, 3), slots);
  EXPECT_EQ(filter(dashes + "a paragraph without an end\n", true, 3),
            "a paragraph without an end\n");
  EXPECT_EQ(filter("a line without an end", true, 3), "a line without an end");
  EXPECT_EQ(filter("----- short\n", false, 3), "----- short\n");
}
