//===- OtherProcessTest.cpp - processes and their children ----------------===//

#include "System/OtherProcess.h"

#include <algorithm>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dtc::rt;

namespace {

/// A child that runs this program until it gets SIGKILL.
struct Child {
  pid_t number = fork();

  Child() {
    while (number == 0)
      pause();
  }
  ~Child() { end(); }

  void end() const {
    kill(number, SIGKILL);
    waitpid(number, nullptr, 0);
  }
};

bool hasRunningChild(pid_t number) {
  std::vector<pid_t> children =
      runningChildren(getpid()).value_or(std::vector<pid_t>());
  return std::ranges::find(children, number) != children.end();
}

} // namespace

TEST(OtherProcess, ChildrenRunUntilTheyEnd) {
  if (!runningChildren(getpid()))
    GTEST_SKIP() << "the system does not list children";
  Child child;
  OtherProcess process(child.number);
  EXPECT_TRUE(hasRunningChild(child.number));
  EXPECT_FALSE(process.hasEnded());
  kill(child.number, SIGKILL);
  siginfo_t info;
  waitid(P_PID, id_t(child.number), &info, WEXITED | WNOWAIT);
  // The child is a zombie, because nobody has waited for it yet.
  EXPECT_FALSE(hasRunningChild(child.number));
  EXPECT_TRUE(process.hasEnded());
  EXPECT_EQ(readStatus(child.number)->state, 'Z');
}

TEST(OtherProcess, ProgramsAreCompared) {
  Child child;
  EXPECT_EQ(runsProgramOf(child.number, getpid()), true);
  EXPECT_EQ(readStatus(child.number)->parent, getpid());
  EXPECT_EQ(readStatus(child.number)->session, getsid(0));
  pid_t other = fork();
  if (other == 0) {
    execlp("sleep", "sleep", "1000", nullptr);
    _exit(1);
  }
  while (runsProgramOf(other, getpid()) == true)
    usleep(1000);
  EXPECT_EQ(runsProgramOf(other, getpid()), false);
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  EXPECT_EQ(runsProgramOf(other, getpid()), std::nullopt);
  EXPECT_FALSE(readStatus(other));
}
