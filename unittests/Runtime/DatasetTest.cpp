//===- DatasetTest.cpp ----------------------------------------------------===//

#include "Data/Source.h"
#include "Expect.h"
#include "StagedArena.h"
#include "TemporaryDirectory.h"
#include "TestManifest.h"

#include <array>
#include <fstream>
#include <numeric>
#include <optional>

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
  // A program that only evaluates does not use it.
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
  nlohmann::json manifest = validManifest();
  manifest["inputs"][1].erase("ignore_index");
  program = readJson(manifest);
  EXPECT_ERROR(open(), "expected 0 to 3 for input 'y'; compiled with "
                       "--ignore-index -1, a program leaves such labels out");
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

TEST_F(Dataset, ShardsChangeNothing) {
  auto whole = open();
  int64_t expected[20][4], found[20][4];
  auto read = [&](DataSource &source, int64_t (&to)[20][4]) {
    for (int row = 0; row < 20; ++row) {
      source.load(0, row / 16, row % 16, to[row]);
      source.load(1, row / 16, row % 16, to[row] + 3);
    }
  };
  read(*whole, expected);
  std::filesystem::remove(folder / "x.npy");
  folder.writeNpy("x-0.npy", "'|u1'", "(3, 3)", x.data(), 9);
  folder.writeNpy("x-1.npy", "'|u1'", "(17, 3)", x.data() + 9, 51);
  auto shards = open();
  read(*shards, found);
  EXPECT_EQ(memcmp(expected, found, sizeof found), 0);
  EXPECT_EQ(shards->describeRow(0, 0, 5),
            "sample 2 of '" + folder / "x-1.npy" + "'");
  // The fingerprint does not depend on the folder, but on the shards.
  EXPECT_NE(shards->fingerprint(), whole->fingerprint());
  EXPECT_EQ(whole->fingerprint().find("20 samples, 2 files, "), 0u);
  TemporaryDirectory moved;
  std::filesystem::copy(folder.path, moved.path);
  EXPECT_EQ(openDataset(program, {moved.path, 2, true, 0, 1})->fingerprint(),
            shards->fingerprint());
}

TEST_F(Dataset, ElementsHaveBoundsOfTheirOwn) {
  nlohmann::json manifest = validManifest();
  manifest["inputs"][0]["bound"] = {3, 0, 8};
  program = readJson(manifest);
  std::vector<int64_t> columns(60);
  for (size_t i = 0; i < columns.size(); ++i)
    columns[i] = std::array<int64_t, 3>{2, 1000, 7}[i % 3];
  folder.writeNpy("x.npy", "'<i8'", "(20, 3)", columns.data(), 480);
  open();
  columns[44] = 8;
  folder.writeNpy("x.npy", "'<i8'", "(20, 3)", columns.data(), 480);
  EXPECT_ERROR(open(), "has value 8 in sample 14, expected 0 to 7 for element "
                       "2 of input 'x'");
  manifest["inputs"][0]["bound"] = {3, 0};
  EXPECT_ERROR(readJson(manifest), "input 'x' has 2 bounds, expected one");
}

TEST_F(Dataset, WholeNumbersThatFloatsDoNotHoldAreRefused) {
  nlohmann::json manifest = validManifest();
  manifest["inputs"][0]["dtype"] = "f32";
  manifest["inputs"][0].erase("bound");
  program = readJson(manifest);
  open();
  std::vector<int64_t> wide(60, 1 << 24);
  folder.writeNpy("x.npy", "'<i8'", "(20, 3)", wide.data(), 480);
  open();
  wide[50] = -(1 << 24) - 1;
  folder.writeNpy("x.npy", "'<i8'", "(20, 3)", wide.data(), 480);
  EXPECT_ERROR(open(), "has value -16777217 in sample 16, expected -16777216 "
                       "to 16777216");
}

TEST_F(Dataset, AnIndexThatChangesIsFound) {
  auto source = open();
  y[3] = 77;
  // In place, as an editor does not but a script may.
  std::fstream file(folder / "labels.npy",
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(std::streamoff(std::filesystem::file_size(folder / "labels.npy")) -
             80 + 3 * 4);
  file.write(reinterpret_cast<char *>(&y[3]), 4);
  file.close();
  int64_t label;
  source->load(1, 0, 2, &label);
  EXPECT_ERROR(source->load(1, 0, 3, &label),
               "labels.npy' was changed while the program trained: it has "
               "value 77 in sample 3");
}

TEST_F(Dataset, ReadingAheadChangesNothing) {
  auto source = open();
  StagedArena expected(512), found(512);
  BatchLoader plain(program, 3, *source, expected);
  BatchLoader reading(program, 3, *source, found, true, 2, 5);
  ArenaWithInlet inlet(512);
  BatchLoader both(program, 3, *source, inlet, true, 2, 5);
  for (int64_t step : {0, 1, 2, 3, 4, 1, 2}) {
    plain.load(step);
    reading.load(step);
    EXPECT_EQ(memcmp(expected.address(), found.address(), 512), 0) << step;
    both.load(step);
    EXPECT_EQ(memcmp(expected.address(), inlet.address(), 512), 0) << step;
    both.prepare(step + 1);
  }
}

//===----------------------------------------------------------------------===//
// Streams of tokens
//===----------------------------------------------------------------------===//

namespace {

class TokenStream : public testing::Test {
protected:
  TemporaryDirectory folder;
  nlohmann::json manifest = validManifest();
  std::vector<uint16_t> tokens = std::vector<uint16_t>(49);

  /// 16 sequences of 3 need 48 tokens, and labels one more.
  TokenStream() {
    for (size_t i = 0; i < tokens.size(); ++i)
      tokens[i] = uint16_t(i % 10);
    manifest["inputs"][1]["shape"] = {16, 3};
    manifest["inputs"][1]["bound"] = {10};
    write(49);
  }
  void write(int count) {
    folder.writeNpy("tokens.npy", "'<u2'", "(" + std::to_string(count) + ",)",
                    tokens.data(), size_t(count) * 2);
  }
  std::unique_ptr<DataSource> open() {
    program = readJson(manifest);
    return openDataset(*program, {folder.path, 1, false, 0, 1});
  }
  std::vector<int64_t> load(DataSource &source, int input, int row) {
    std::vector<int64_t> values(3);
    source.load(input, 0, row, values.data());
    return values;
  }
  std::optional<Program> program;
};

} // namespace

TEST_F(TokenStream, IsCutIntoSequences) {
  auto source = open();
  EXPECT_EQ(source->countSamples(), 16);
  EXPECT_EQ(load(*source, 0, 0), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(load(*source, 1, 0), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(load(*source, 0, 15), (std::vector<int64_t>{5, 6, 7}));
  EXPECT_EQ(load(*source, 1, 15), (std::vector<int64_t>{6, 7, 8}));
  EXPECT_EQ(source->fingerprint().find("16 samples, 1 files, "), 0u);
  write(48); // no label for the last
  EXPECT_ERROR(open(), "has 15 samples, expected at least one global batch");
}

TEST_F(TokenStream, GoesOnInTheNextShard) {
  std::filesystem::remove(folder / "tokens.npy");
  auto bytes = [&](int first, int last) {
    return std::string(reinterpret_cast<char *>(tokens.data() + first),
                       size_t(last - first) * 2);
  };
  folder.write("tokens-000.bin", bytes(0, 4));
  folder.write("tokens-001.bin", bytes(4, 49));
  auto source = open();
  EXPECT_EQ(load(*source, 0, 1), (std::vector<int64_t>{3, 4, 5}));
  EXPECT_EQ(load(*source, 1, 0), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(load(*source, 1, 1), (std::vector<int64_t>{4, 5, 6}));
}

TEST_F(TokenStream, NamesSayWhatModelsThatShiftThemselvesGet) {
  manifest["inputs"][0]["name"] = "input_ids";
  manifest["inputs"][1]["kind"] = "input";
  manifest["inputs"][1]["name"] = "labels";
  manifest["inputs"][1].erase("ignore_index");
  write(48);
  EXPECT_EQ(load(*open(), 1, 15), (std::vector<int64_t>{5, 6, 7}));
  write(49);
  manifest["inputs"][0]["name"] = "idx";
  manifest["inputs"][1]["name"] = "targets";
  EXPECT_EQ(load(*open(), 1, 15), (std::vector<int64_t>{6, 7, 8}));
  manifest["inputs"][1]["name"] = "token_type_ids";
  EXPECT_ERROR(open(), "token_type_ids.npy', expected one with input "
                       "'token_type_ids', i64 of shape [samples, ...] with "
                       "samples of [3]; it is not among those that read "
                       "tokens");
}

TEST_F(TokenStream, AnInputOfThisNameMayHaveSamples) {
  manifest["inputs"][0]["name"] = "tokens";
  folder.writeNpy("tokens.npy", "'<u2'", "(16, 3)", tokens.data(), 96);
  folder.writeNpy("labels.npy", "'<u2'", "(16, 3)", tokens.data() + 1, 96);
  auto source = open();
  EXPECT_EQ(load(*source, 0, 1), (std::vector<int64_t>{3, 4, 5}));
  EXPECT_EQ(load(*source, 1, 1), (std::vector<int64_t>{4, 5, 6}));
}

TEST_F(TokenStream, FitsTheTightestBoundAnywhere) {
  manifest["inputs"][0]["bound"] = {10, 9, 0};
  EXPECT_ERROR(open(), "tokens.npy' has value 9 in token 9, expected 0 to 8 "
                       "for input 'x'");
}

TEST_F(TokenStream, RefusesTokensThatTheModelDoesNotHave) {
  tokens[40] = 10;
  write(49);
  EXPECT_ERROR(open(), "tokens.npy' has value 10 in token 40, expected 0 to 9");
  folder.writeNpy("tokens.npy", "'<u2'", "(7, 7)", tokens.data(), 98);
  EXPECT_ERROR(open(), "has shape [7, 7], expected one dimension");
  std::vector<float> floats(49);
  folder.writeNpy("tokens.npy", "'<f4'", "(49,)", floats.data(), 196);
  EXPECT_ERROR(open(), "element type '<f4', expected whole numbers");
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

namespace {

class Images : public testing::Test {
protected:
  TemporaryDirectory folder;
  Program program;
  std::vector<uint8_t> pixels = std::vector<uint8_t>(16 * 12);
  std::vector<uint8_t> labels = std::vector<uint8_t>(16);

  Images() {
    nlohmann::json manifest = validManifest();
    manifest["inputs"][0]["shape"] = {16, 3, 2, 2};
    manifest["inputs"][0]["dtype"] = "f32";
    manifest["inputs"][0].erase("bound");
    program = readJson(manifest);
    for (size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = uint8_t(i);
    folder.writeNpy("labels.npy", "'|u1'", "(16,)", labels.data(), 16);
  }
  void write(const std::string &shape) {
    folder.writeNpy("x.npy", "'|u1'", shape, pixels.data(), pixels.size());
  }
  std::unique_ptr<DataSource> open(const std::string &transform,
                                   bool random = true) {
    return openDataset(program,
                       {folder.path, 5, true, 0, 1, transform, random});
  }
  std::vector<float> load(DataSource &source, int64_t step, int row) {
    std::vector<float> values(12);
    source.load(0, step, row, values.data());
    return values;
  }
};

} // namespace

TEST_F(Images, ChannelsMayComeLast) {
  write("(16, 3, 2, 2)");
  std::vector<float> plain = load(*open(""), 0, 3);
  EXPECT_EQ(plain[1], plain[0] + 1);
  std::vector<float> scaled = load(*open("scale(1/2)"), 0, 3);
  for (size_t i = 0; i < 12; ++i)
    EXPECT_EQ(scaled[i], plain[i] / 2);
  write("(16, 2, 2, 3)");
  std::vector<float> moved = load(*open(""), 0, 3);
  for (size_t pixel = 0; pixel < 4; ++pixel)
    for (size_t channel = 0; channel < 3; ++channel)
      EXPECT_EQ(moved[channel * 4 + pixel], plain[pixel * 3 + channel]);
}

TEST_F(Images, AreTheSameWhateverReadsThem) {
  write("(16, 3, 2, 2)");
  auto one = open("crop(2,1), flip"), other = open("crop(2,1), flip");
  std::vector<float> first = load(*one, 7, 3);
  EXPECT_NE(load(*one, 8, 3), first);
  for (int row : {5, 1, 3})
    load(*other, 7, row);
  EXPECT_EQ(load(*other, 7, 3), first);
  // In evaluations nothing is drawn.
  EXPECT_EQ(load(*open("crop(2,1), flip", false), 7, 3),
            load(*open("", false), 7, 3));
}

TEST_F(Images, MustFitTheInput) {
  write("(16, 3, 1, 4)");
  EXPECT_ERROR(open(""), "have shape [3, 1, 4], expected [3, 2, 2] for input "
                         "'x'; --transform 'resize(2,2)' changes them");
  open("resize(2)");
  EXPECT_ERROR(open("resize(2,3)"), "have shape [3, 2, 3] after --transform");
  write("(16, 12)");
  EXPECT_ERROR(open(""), "has shape [16, 12], expected images for input 'x': "
                         "[samples, 3, height, width], or of u8 [samples, "
                         "height, width, 3]");
  EXPECT_ERROR(openDataset(readJson(validManifest()),
                           {folder.path, 1, false, 0, 1, "flip"}),
               "found --transform, expected it with a program that has images");
}

TEST_F(Dataset, NamesTheFilesThatRanksCompare) {
  auto source = open();
  std::vector<ComparedFile> files = source->files();
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].name, "x.npy");
  EXPECT_EQ(files[1].name, "labels.npy");
  EXPECT_EQ(files[1].bytes.size(), 128u + y.size() * 4);
}
