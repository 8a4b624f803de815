//===- TopologyTest.cpp ---------------------------------------------------===//

#include "dtc/Report/Topology.h"
#include "dtc/Plan/Ranks.h"
#include "dtc/Report/Devices.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

class RanksTest : public testing::Test {
protected:
  RanksTest() { context.loadDialect<DTCDialect>(); }

  Ranks make(ArrayRef<std::pair<StringRef, int64_t>> sizes) {
    SmallVector<MeshAxis> axes;
    for (auto [name, size] : sizes)
      axes.push_back({StringAttr::get(&context, name), size});
    return Ranks(MeshAttr::get(&context, axes));
  }
  static std::string group(const Ranks &ranks, int64_t rank,
                           ArrayRef<StringRef> axes) {
    return llvm::join(
        llvm::map_range(ranks.getGroup(rank, axes),
                        [](int64_t r) { return std::to_string(r); }),
        " ");
  }

  MLIRContext context;
};

TEST_F(RanksTest, TheLastAxisIsInnermost) {
  Ranks ranks = make({{"pp", 2}, {"dp", 3}, {"tp", 2}, {"mb", 4}});
  EXPECT_EQ(ranks.size(), 12);
  EXPECT_EQ(ranks.getCoordinate(9, "pp"), 1); // 9 = 1 x 6 + 1 x 2 + 1
  EXPECT_EQ(ranks.getCoordinate(9, "dp"), 1);
  EXPECT_EQ(ranks.getCoordinate(9, "tp"), 1);
  EXPECT_EQ(group(ranks, 9, {"tp"}), "8 9");
  EXPECT_EQ(group(ranks, 9, {"dp"}), "7 9 11");
  EXPECT_EQ(group(ranks, 9, {"pp"}), "3 9");
  EXPECT_EQ(group(ranks, 9, {"pp", "tp"}), "2 3 8 9");
  EXPECT_EQ(ranks.getPeer(9, "pp", 0), 3);
}

TEST_F(RanksTest, AnotherOrder) {
  Ranks ranks = make({{"tp", 2}, {"dp", 3}, {"pp", 2}, {"mb", 4}});
  EXPECT_EQ(group(ranks, 9, {"tp"}), "3 9");
  EXPECT_EQ(group(ranks, 9, {"dp"}), "7 9 11");
  EXPECT_EQ(group(ranks, 9, {"pp"}), "8 9");
  EXPECT_EQ(ranks.getPeer(9, "pp", 0), 8);
}

TEST_F(RanksTest, AxesThatTheMeshLacks) {
  Ranks ranks = make({{"dp", 2}, {"mb", 4}});
  EXPECT_EQ(ranks.getCoordinate(1, "pp"), 0);
  EXPECT_EQ(ranks.getPeer(1, "pp", 0), 1);
  EXPECT_EQ(group(ranks, 1, {"pp"}), "1");
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

// Two nodes of four; between them a tenth of the bandwidth, 10 x the latency.
static const Topology machines{2, 4, 1e12, {1e9, 1e-6}, {1e8, 1e-5}};

TEST(Topology, InOneNode) {
  // Four ranks, 8000 bytes: 6 steps of 2000 bytes, or 3.
  std::vector<int64_t> ranks = {4, 5, 6, 7};
  EXPECT_DOUBLE_EQ(
      machines.getCollectiveSeconds(CollectiveKind::AllReduce, ranks, 1, 8000),
      6 * (2000 / 1e9 + 1e-6));
  for (CollectiveKind kind :
       {CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
        CollectiveKind::AllToAll})
    EXPECT_DOUBLE_EQ(machines.getCollectiveSeconds(kind, ranks, 1, 8000),
                     3 * (2000 / 1e9 + 1e-6));
}

TEST(Topology, PermutationsAreOneMessage) {
  EXPECT_DOUBLE_EQ(machines.getCollectiveSeconds(
                       CollectiveKind::CollectivePermute, {4, 5, 6}, 1, 8000),
                   8000 / 1e9 + 1e-6);
  EXPECT_DOUBLE_EQ(machines.getCollectiveSeconds(
                       CollectiveKind::CollectivePermute, {3, 4}, 2, 8000),
                   8000 / 1e8 + 2e-5);
  EXPECT_EQ(machines.getCollectiveSeconds(CollectiveKind::CollectivePermute,
                                          {5}, 1, 8000),
            0);
}

TEST(Topology, AcrossNodes) {
  EXPECT_DOUBLE_EQ(
      machines.getCollectiveSeconds(CollectiveKind::AllReduce, {3, 7}, 1, 8000),
      2 * (4000 / 1e8 + 1e-5));
  // One link between nodes slows the ring down to its speed.
  EXPECT_DOUBLE_EQ(machines.getCollectiveSeconds(CollectiveKind::AllGather,
                                                 {2, 3, 4, 5}, 1, 8000),
                   3 * (2000 / 1e8 + 1e-5));
}

TEST(Topology, SlowestLink) {
  // Links between nodes may be the better ones; a ring inside is not.
  Topology odd{2, 4, 1e12, {1e8, 1e-6}, {1e9, 1e-5}};
  EXPECT_EQ(odd.getSlowestLink({0, 4}).bandwidth, 1e9);
  EXPECT_EQ(odd.getSlowestLink({0, 1, 4, 5}).bandwidth, 1e8);
  EXPECT_EQ(odd.getSlowestLink({0, 1, 4, 5}).latency, 1e-5);
  EXPECT_EQ(odd.getSlowestLink({0, 1}).latency, 1e-6);
}

TEST(Topology, SeveralCallsAddUp) {
  std::vector<int64_t> ranks = {0, 1, 2, 6};
  EXPECT_DOUBLE_EQ(
      machines.getCollectiveSeconds(CollectiveKind::AllReduce, ranks, 3, 6000),
      3 * machines.getCollectiveSeconds(CollectiveKind::AllReduce, ranks, 1,
                                        2000));
  EXPECT_EQ(
      machines.getCollectiveSeconds(CollectiveKind::AllReduce, {5}, 3, 6000),
      0);
}

TEST(Topology, Messages) {
  EXPECT_DOUBLE_EQ(machines.getMessageSeconds(0, 3, 2, 5000),
                   5000 / 1e9 + 2e-6);
  EXPECT_DOUBLE_EQ(machines.getMessageSeconds(3, 4, 2, 5000),
                   5000 / 1e8 + 2e-5);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static const char *const good =
    R"({"nodes": 2, "devices_per_node": 4, "device": {"flops": 1e12},
        "links": {"device": {"bandwidth": 2e10, "latency": 0},
                  "node": {"bandwidth": 1.2e9, "latency": 2e-5}}})";

static llvm::Expected<Topology> read(const std::string &text,
                                     const Device *model = nullptr) {
  llvm::SmallString<64> path;
  int file;
  EXPECT_FALSE(
      llvm::sys::fs::createTemporaryFile("topology", "json", file, path));
  llvm::FileRemover remove(path);
  llvm::raw_fd_ostream(file, /*shouldClose=*/true) << text;
  llvm::Expected<Topology> result = Topology::read(path, model, "bf16");
  if (result)
    return result;
  // The file's name comes first in every error.
  std::string message = llvm::toString(result.takeError());
  EXPECT_EQ(message.find((path + ": ").str()), 0u) << message;
  return llvm::createStringError(message.substr(path.size() + 2));
}

/// Returns the error of the good file with one text replaced.
static std::string readBad(StringRef from, StringRef to,
                           const Device *model = nullptr) {
  std::string text = good;
  size_t at = text.find(from.str());
  EXPECT_NE(at, std::string::npos);
  llvm::Expected<Topology> result =
      read(text.replace(at, from.size(), to), model);
  return result ? "" : llvm::toString(result.takeError());
}

TEST(TopologyFile, Good) {
  llvm::Expected<Topology> topology = read(good);
  ASSERT_TRUE(bool(topology)) << llvm::toString(topology.takeError());
  EXPECT_EQ(topology->nodes, 2);
  EXPECT_EQ(topology->devicesPerNode, 4);
  EXPECT_EQ(topology->flops, 1e12);
  EXPECT_EQ(topology->device.bandwidth, 2e10);
  EXPECT_EQ(topology->device.latency, 0);
  EXPECT_EQ(topology->node.bandwidth, 1.2e9);
  EXPECT_EQ(topology->node.latency, 2e-5);
}

TEST(TopologyFile, Speed) {
  EXPECT_FALSE(llvm::cantFail(read(good)).speed);
  std::string text = good;
  text.insert(text.find("1e12") + 4, ", \"memory_bandwidth\": 1e11");
  Topology topology = llvm::cantFail(read(text));
  ASSERT_TRUE(topology.speed);
  EXPECT_EQ(topology.speed->bandwidth, 1e11);
  for (StringRef numbers : {"f64", "f32", "tf32", "bf16", "fp16"})
    EXPECT_EQ(topology.speed->getFlops(numbers), 1e12);
}

TEST(TopologyFile, DevicesAreTheModels) {
  const Device *device = Device::find("h200");
  EXPECT_EQ(
      readBad("", "", device),
      "'device.flops' is given, but --device h200 sets the figures of devices; "
      "leave out one of them");
  std::string text = good;
  StringRef figure = R"("device": {"flops": 1e12},)";
  Topology topology = llvm::cantFail(
      read(text.erase(text.find(figure), figure.size()), device));
  EXPECT_EQ(topology.flops, device->speed.half);
  EXPECT_EQ(topology.speed->bandwidth, device->speed.bandwidth);
  EXPECT_EQ(topology.node.bandwidth, 1.2e9);
}

TEST(TopologyFile, Bad) {
  EXPECT_EQ(readBad("\"nodes\": 2", "\"nodes\": -2"),
            "'nodes' is -2, expected a whole number of at least 1");
  EXPECT_EQ(readBad("\"nodes\": 2", "\"nodes\": 1.5"),
            "'nodes' is 1.5, expected a whole number of at least 1");
  EXPECT_EQ(readBad("\"nodes\": 2, ", ""),
            "'nodes' is missing, expected a whole number of at least 1");
  EXPECT_EQ(readBad("1.2e9", "\"fast\""),
            "'links.node.bandwidth' is \"fast\", expected a number above 0");
  EXPECT_EQ(readBad("1.2e9", "0"),
            "'links.node.bandwidth' is 0, expected a number above 0");
  EXPECT_EQ(readBad("2e-5", "-1"),
            "'links.node.latency' is -1, expected a number of at least 0");
  EXPECT_EQ(readBad("1e12", "1e999"),
            "'device.flops' is inf, expected a number above 0");
  EXPECT_EQ(readBad("{\"flops\": 1e12}", "3"),
            "'device' is 3, expected an object");
  EXPECT_EQ(
      readBad("\"flops\"", "\"speed\""),
      "unknown key 'device.speed', expected only nodes, "
      "devices_per_node, device.flops, device.memory_bandwidth, "
      "device.host_bandwidth, links.device.bandwidth, links.device.latency, "
      "links.node.bandwidth, links.node.latency");
  EXPECT_EQ(readBad(good, "[2, 4]"), "is [2,4], expected an object");
  EXPECT_EQ(readBad("2e-5}}}", "2e-5}").substr(0, 13), "is not JSON: ");
}
