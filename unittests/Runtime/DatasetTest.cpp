//===- DatasetTest.cpp ----------------------------------------------------===//

#include "Data/Source.h"
#include "Expect.h"
#include "StagedArena.h"
#include "TemporaryDirectory.h"
#include "TestManifest.h"

#include <numeric>

using namespace dtc::rt;

namespace {

/// A directory with 20 samples, x as bytes and labels as 32-bit integers.
class Dataset : public testing::Test {
protected:
  TemporaryDirectory folder;
  Program program = readJson(validManifest());
  std::vector<uint8_t> x = std::vector<uint8_t>(60);
  std::vector<int32_t> y = std::vector<int32_t>(20);

  Dataset() {
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = uint8_t(i % 10);
    for (size_t i = 0; i < y.size(); ++i)
      y[i] = int32_t(i % 4);
    write();
  }

  void write() {
    folder.writeNpy("x.npy", "'|u1'", "(20, 3)", x.data(), x.size());
    folder.writeNpy("labels.npy", "'<i4'", "(20,)", y.data(), y.size() * 4);
  }

  std::unique_ptr<DataSource> open(int rank = 0, int ranks = 1) {
    return openDataset(program, {folder.path, 1, false, rank, ranks});
  }
};

} // namespace

TEST_F(Dataset, FillsARanksBuffers) {
  auto source = open();
  StagedArena arena(512);
  BatchLoader(program, 3, *source, arena).load(0);
  // Rank 3 of 4, blocks of 2 rows: rows 6, 7 and 14, 15.
  const int64_t *loaded = reinterpret_cast<int64_t *>(arena.address());
  const int64_t *labels = loaded + 12;
  int local = 0;
  for (int row : {6, 7, 14, 15}) {
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(loaded[local * 3 + i], x[size_t(row * 3 + i)]);
    EXPECT_EQ(labels[local++], y[size_t(row)]);
  }
}

namespace {

/// An arena whose inputs can be prepared; counts how often they were.
class ArenaWithInlet : public StagedArena {
public:
  using StagedArena::StagedArena;

  std::unique_ptr<Inlet> makeInlet(const std::vector<Range> &ranges) override {
    return std::make_unique<CopyingInlet>(*this, ranges);
  }
  int sent = 0;

private:
  struct CopyingInlet : Inlet {
    CopyingInlet(ArenaWithInlet &arena, std::vector<Range> ranges)
        : arena(arena), ranges(std::move(ranges)), prepared(512) {}
    char *begin() override { return prepared.data(); }
    void send() override { ++arena.sent; }
    void deliver() override {
      const char *from = prepared.data();
      for (auto [offset, bytes] : ranges) {
        memcpy(arena.address() + offset, from, size_t(bytes));
        from += bytes;
      }
    }
    ArenaWithInlet &arena;
    std::vector<Range> ranges;
    std::vector<char> prepared;
  };
};

} // namespace

TEST_F(Dataset, PreparesAStepWhileTheArenaHasAnother) {
  auto source = open();
  StagedArena expected(512), next(512);
  BatchLoader(program, 3, *source, expected).load(0);
  BatchLoader(program, 3, *source, next).load(1);
  ArenaWithInlet arena(512);
  auto has = [&](const StagedArena &other) {
    return memcmp(arena.address(), other.address(), 512) == 0;
  };
  BatchLoader loader(program, 3, *source, arena, /*ahead=*/true);
  loader.load(0);
  EXPECT_TRUE(has(expected));
  loader.prepare(1);
  EXPECT_TRUE(has(expected));
  loader.load(1);
  EXPECT_TRUE(has(next));
  EXPECT_EQ(arena.sent, 2);
  loader.load(0); // was not prepared
  EXPECT_TRUE(has(expected));
  // What only evaluates does not use it.
  BatchLoader(program, 3, *source, arena).load(1);
  EXPECT_TRUE(has(next));
  EXPECT_EQ(arena.sent, 3);
}

TEST_F(Dataset, ALabelFileOfItsOwnNameComesFirst) {
  std::vector<int64_t> own(20, 3);
  folder.writeNpy("y.npy", "'<i8'", "(20,)", own.data(), 160);
  int64_t label = 0;
  open()->load(1, 0, 0, &label);
  EXPECT_EQ(label, 3);
}

TEST_F(Dataset, IgnoredLabelsAreAllowed) {
  y[5] = -100;
  write();
  int64_t label = 0;
  open()->load(1, 0, 5, &label);
  EXPECT_EQ(label, -100);
}

TEST_F(Dataset, RefusesValuesOutOfBound) {
  x[41] = 10; // sample 13
  write();
  EXPECT_ERROR(open(), "has value 10 in sample 13, expected 0 to 9 for input "
                       "'x'");
  open(0, 2); // the second rank's share
  EXPECT_ERROR(open(1, 2), "in sample 13");
  x[41] = 0;
  y[7] = -1;
  write();
  EXPECT_ERROR(open(), "has value -1 in sample 7, expected 0 to 3");
}

TEST_F(Dataset, RefusesWrongShapesAndTypes) {
  folder.writeNpy("x.npy", "'|u1'", "(15, 4)", x.data(), 60);
  EXPECT_ERROR(open(), "has shape [15, 4], expected samples of shape [3]");
  folder.writeNpy("x.npy", "'|u1'", "()", x.data(), 60);
  EXPECT_ERROR(open(), "has shape []");
  std::vector<float> floats(60);
  folder.writeNpy("x.npy", "'<f4'", "(20, 3)", floats.data(), 240);
  EXPECT_ERROR(open(), "element type '<f4', expected whole numbers");
  folder.writeNpy("x.npy", "'|u1'", "(19, 3)", x.data(), 60);
  EXPECT_ERROR(open(), "has 20 samples, but");
  folder.writeNpy("x.npy", "'|u1'", "(5, 3)", x.data(), 60);
  folder.writeNpy("labels.npy", "'<i4'", "(5,)", y.data(), 80);
  EXPECT_ERROR(open(), "has 5 samples, expected at least one global batch of "
                       "16");
}

TEST_F(Dataset, RefusesMissingFiles) {
  std::filesystem::remove(folder / "x.npy");
  EXPECT_ERROR(open(), "x.npy', expected one with input 'x'");
  write();
  std::filesystem::remove(folder / "labels.npy");
  EXPECT_ERROR(open(),
               "found no file '" + folder / "labels.npy" + "' (or '" +
                   folder / "y.npy" +
                   "') with the labels, expected i64 of shape [samples]");
}
