//===- TuningTest.cpp -----------------------------------------------------===//

#include "Core/Error.h"
#include "Device/CPU/MatMul/MatMul.h"
#include "TemporaryDirectory.h"
#include "Training/TuningFile.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

using namespace dtc::rt;

namespace {

struct TuningTest : testing::Test {
  std::unique_ptr<Collectives> self = makeSelfCollectives();
  TemporaryDirectory folder;
  std::string path = folder / "ways.json";

  TuningFile open(const std::string &device = "a") {
    return TuningFile(path, device, *self);
  }
  void write(const std::string &text) const { std::ofstream(path) << text; }
  std::string read() const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

const std::vector<std::string> ways = {"x", "y", "z"};

/// The chosen way if each takes the given time. A leading -1 means that nothing
/// was measured.
int choose(Tuning &tuning, const std::vector<double> &seconds) {
  bool isMeasured = false;
  size_t chosen = tuning.choose("p", ways, [&](size_t i) {
    isMeasured = true;
    return seconds[i];
  });
  return isMeasured ? int(chosen) : -1 - int(chosen);
}

} // namespace

TEST_F(TuningTest, FirstStepMeasuresAndTheFileKeeps) {
  TuningFile tuning = open();
  EXPECT_EQ(choose(tuning, {3, 2, 1}), 0); // until all ranks know
  EXPECT_EQ(choose(tuning, {3, 2, 1}), -1);
  EXPECT_EQ(tuning.finish(), 1u);
  EXPECT_EQ(choose(tuning, {1, 2, 3}), -1 - 2);
  TuningFile again = open();
  EXPECT_EQ(choose(again, {1, 2, 3}), -1 - 2);
  EXPECT_EQ(again.finish(), 0u);
  // Another device has times of its own in the same file.
  TuningFile other = open("b");
  EXPECT_EQ(choose(other, {3, 1, 2}), 0);
  EXPECT_EQ(other.finish(), 1u);
  EXPECT_TRUE(contains(read(), "\"z\"") && contains(read(), "\"y\"")) << read();
}

TEST_F(TuningTest, NothingIsMeasuredLater) {
  TuningFile tuning = open();
  EXPECT_EQ(tuning.finish(), 0u);
  EXPECT_EQ(choose(tuning, {3, 2, 1}), -1);
}

TEST_F(TuningTest, NoiseDoesNotCount) {
  TuningFile tuning = open();
  choose(tuning, {1, 0.99, 2});
  tuning.finish();
  EXPECT_EQ(choose(tuning, {1, 1, 1}), -1);
  EXPECT_TRUE(contains(read(), "\"x\"")) << read();
}

TEST_F(TuningTest, WaysThatAreGoneAreMeasuredAgain) {
  write(R"({"tuning": {"a": {"p": "gone"}}})");
  TuningFile tuning = open();
  EXPECT_EQ(choose(tuning, {2, 1, 3}), 0);
  tuning.finish();
  EXPECT_EQ(choose(tuning, {0, 0, 0}), -1 - 1);
}

TEST_F(TuningTest, LinksAndModesStay) {
  namespace fs = std::filesystem;
  std::string real = folder / "real.json";
  TuningFile(real, "a", *self).finish();
  fs::permissions(real, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real.json", path);
  TuningFile tuning = open();
  choose(tuning, {3, 2, 1});
  EXPECT_EQ(tuning.finish(), 1u);
  EXPECT_TRUE(fs::is_symlink(path));
  EXPECT_EQ(fs::status(real).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(TuningTest, OtherFilesAreRefusedAndKept) {
  for (const char *text :
       {"", "[]", "{}", "{\"tuning\": 1}", "{\"tuning\": {\"a\": {\"p\": 1}}}",
        "{\"tuning\": {\"a\": []}}"}) {
    write(text);
    try {
      open();
      FAIL() << text;
    } catch (const Error &error) {
      EXPECT_TRUE(contains(error.what(), "--autotune")) << error.what();
    }
    EXPECT_EQ(read(), text);
  }
}

/// Every way computes the matmul for any strides, and the built-in engine gives
/// the same bits.
TEST_F(TuningTest, AllWaysOfProducts) {
  struct Case {
    int64_t batch, m, n, k;
    bool turnsA, turnsB;
  };
  for (const auto &[batch, m, n, k, turnsA, turnsB] :
       {Case{1, 70, 24, 300, false, true}, Case{1, 33, 150, 600, true, false},
        Case{3, 16, 40, 50, true, true}, Case{1, 1, 90, 64, false, false},
        Case{1, 90, 1, 64, true, true}, Case{1, 20, 30, 1, true, true}}) {
    std::mt19937 generator(1);
    std::uniform_real_distribution<float> distribution(-1, 1);
    auto fill = [&](std::vector<float> &values) {
      for (float &value : values)
        value = distribution(generator);
    };
    std::vector<float> a(size_t(batch * m * k)), b(size_t(batch * k * n)),
        start(size_t(batch * m * n));
    fill(a);
    fill(b);
    fill(start);
    MatMulShape shape{DTC_F32, turnsA, turnsB, true, batch, m, n, k};
    MatMul matmul(MatMulEngine::builtin, 2);
    std::vector<float> expected = start;
    matmul.run(shape, a.data(), b.data(), expected.data());

    // The requested computation, and its name.
    TuningFile asked = open();
    matmul.tuneBy(asked);
    std::vector<float> measuring = start;
    matmul.run(shape, a.data(), b.data(), measuring.data());
    EXPECT_EQ(measuring, expected) << "while it is measured";
    EXPECT_EQ(asked.finish(), 1u);
    std::string text = read();
    size_t end = text.rfind('"'), begin = text.rfind('"', end - 1) + 1;
    std::vector<std::string> names = {"onednn"};
    for (const GemmKernels *kernels : equalGemmKernels())
      for (const char *threads : {" x 1", " x 2"})
        names.push_back(kernels->name + std::string(threads));
    for (const std::string &way : names) {
      write(text.substr(0, begin) + way + text.substr(end));
      TuningFile tuning = open();
      matmul.tuneBy(tuning);
      std::vector<float> result = start;
      matmul.run(shape, a.data(), b.data(), result.data());
      EXPECT_EQ(tuning.finish(), 0u) << way << " is not known";
      for (size_t i = 0; i < result.size(); ++i)
        ASSERT_NEAR(result[i], expected[i], 1e-4) << way << " at " << i;
      if (way != "onednn")
        EXPECT_EQ(result, expected) << way;
    }
    std::filesystem::remove(path);
  }
}
