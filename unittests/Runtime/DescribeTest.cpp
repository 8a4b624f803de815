//===- DescribeTest.cpp - the operation that a rank waits for -------------===//

#include "Collectives/Describe.h"

#include "Device/CPU/HostDevice.h"
#include "Expect.h"
#include "Program/Context.h"
#include "TestManifest.h"

using namespace dtc::rt;

TEST(Describe, NamesOperationPartnerAndRun) {
  Program program = readJson(validManifest()); // pp 1 x dp 4
  auto alone = makeSelfCollectives();
  HostDevice device(MatMulEngine::builtin, /*winograd=*/true, /*threads=*/1);
  dtc_context running(program, 0, *alone, device, /*overlaps=*/true);
  auto words = [&](const Call &call) {
    return describe(call, &program, &running);
  };
  float values[4] = {};
  Collective sum = Collective::allReduce(DTC_F32, DTC_SUM, values, 4);
  EXPECT_EQ(words(Call::of(0, sum)), "all_reduce over dp of 16 bytes");
  running.function = 1;
  EXPECT_EQ(words(Call::of(1, sum)),
            "all_reduce over pp, dp of 16 bytes in stage function W");
  running.microbatch = 3;
  // Each of the four members has a share of as many bytes.
  EXPECT_EQ(
      words(Call::of(0, Collective::allGather(values, values, 512))),
      "all_gather over dp of 2.0 KiB in stage function W of micro-batch 3");
  EXPECT_EQ(words({Call::send, 2, 1536}),
            "the send of 1.5 KiB to rank 2 (pp 0, dp 2) in stage function W of "
            "micro-batch 3");
  EXPECT_EQ(
      words({Call::recv, 1, 8}),
      "8 bytes from rank 1 (pp 0, dp 1) in stage function W of micro-batch 3");
  EXPECT_EQ(words({Call::data, 1, 8}),
            "8 bytes of data to or from rank 1 (pp 0, dp 1), between steps");
}

TEST(Describe, KnowsNoProgramBeforeThereAreGroups) {
  EXPECT_EQ(describe({Call::start}, nullptr, nullptr),
            "the other ranks to start");
  EXPECT_EQ(describe({Call::data, 1, 8}, nullptr, nullptr),
            "8 bytes of data to or from rank 1, between steps");
}
