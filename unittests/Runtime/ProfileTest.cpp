//===- ProfileTest.cpp - the table of a profile, by hand ------------------===//

#include "Metrics/Profile.h"

#include <gtest/gtest.h>

using namespace dtc::rt;
using Kind = Profile::Kind;

namespace {

/// Two steps of 10 ms. Rank 1 computes 8 ms, the others 4 ms and wait.
Profile makeProfile() {
  Profile profile({"rank 0 (dp 0)", "rank 1 (dp 1)", "rank 2 (dp 2)"}, 2);
  for (int step = 0; step < 2; ++step)
    for (int rank = 0; rank < 3; ++rank) {
      double compute = rank == 1 ? 4e-3 : 2e-3;
      for (int microbatch = 0; microbatch < 2; ++microbatch)
        profile.add(rank, "F", Kind::compute, compute, 0);
      profile.add(rank, "all_reduce dp", Kind::communicate, 10e-3 - 2 * compute,
                  1 << 20);
      profile.add(rank, "send to stage 1, in flight", Kind::inFlight, 50e-3, 0);
      profile.addStep(rank, 10e-3);
    }
  return profile;
}

TEST(Profile, HasMeansOfARankAndStep) {
  // F: (8 + 4 + 4) / 3 ms in 2 calls; the all-reduce 6, 2 and 6 ms.
  EXPECT_EQ(
      makeProfile().describe(),
      "of a rank and step, mean              calls         ms   share       "
      "bytes     GB/s\n"
      "F                                         2      5.333  53.3 %\n"
      "all_reduce dp                             1      4.667  46.7 %     1.0 "
      "MiB    0.225\n"
      "send to stage 1, in flight                1     50.000       -\n"
      "step                                      1     10.000 100.0 %\n" +
          makeProfile().describeSlowest());
}

TEST(Profile, NamesTheRankThatOthersWaitFor) {
  EXPECT_EQ(makeProfile().describeSlowest(),
            "rank 1 (dp 1) computes 2.00 times the median of the ranks; the "
            "others spend 60 % of a step in communication and waiting, it "
            "20 %\n");
  Profile alone({"rank 0"}, 1);
  alone.add(0, "F", Kind::compute, 1, 0);
  EXPECT_EQ(alone.describeSlowest(), "");
  EXPECT_EQ(Profile({"rank 0"}, 0).describe(), "no step was recorded\n");
}

} // namespace
