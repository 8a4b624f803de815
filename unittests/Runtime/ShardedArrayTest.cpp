//===- ShardedArrayTest.cpp -----------------------------------------------===//

#include "Data/ShardedArray.h"
#include "Expect.h"
#include "TemporaryDirectory.h"

#include <numeric>

using namespace dtc::rt;

namespace {

class ShardedArrays : public testing::Test {
protected:
  TemporaryDirectory folder;
  std::vector<uint8_t> values = std::vector<uint8_t>(60);

  ShardedArrays() { std::iota(values.begin(), values.end(), 0); }

  /// Samples first .. last - 1 of three values.
  void write(const std::string &name, int first, int last) {
    folder.writeNpy(name, "'|u1'", "(" + std::to_string(last - first) + ", 3)",
                    values.data() + first * 3, size_t(last - first) * 3);
  }

  std::vector<int32_t> read(const ShardedArray &array, int first, int count) {
    std::vector<int32_t> result(static_cast<size_t>(count));
    array.read(first, count, DTC_I32, result.data());
    return result;
  }
};

} // namespace

TEST_F(ShardedArrays, AreOneArray) {
  write("x-000.npy", 0, 7);
  write("x-001.npy", 7, 7);
  write("x-002.npy", 7, 20);
  auto array = findArray(folder.path, "x");
  ASSERT_TRUE(array);
  EXPECT_EQ(array->shape(), (std::vector<int64_t>{20, 3}));
  for (int first : {0, 3, 19, 20, 21, 59}) {
    int count = std::min(25, 60 - first);
    std::vector<int32_t> expected(static_cast<size_t>(count));
    std::iota(expected.begin(), expected.end(), first);
    EXPECT_EQ(read(*array, first, count), expected);
  }
  std::string value;
  EXPECT_EQ(array->findOutside(10, 50, {0, 30, 0}, value), 31);
  EXPECT_EQ(value, "31");
  EXPECT_EQ(array->findOutside(10, 20, {0, 30, 0}, value), -1);
  EXPECT_EQ(array->fileOf(21).path(), folder / "x-002.npy");
  EXPECT_EQ(array->offsetInFile(24), 3);
}

TEST_F(ShardedArrays, NumbersAreSortedAsNumbers) {
  for (int i = 0; i < 11; ++i)
    write("x-" + std::to_string(i + 1) + ".npy", i, i + 1);
  write("x-notes.npy", 0, 1);
  write("xy-1.npy", 0, 1);
  auto array = findArray(folder.path, "x");
  ASSERT_TRUE(array);
  EXPECT_EQ(read(*array, 0, 33).back(), 32);
  std::filesystem::remove(folder / "x-5.npy");
  EXPECT_ERROR(findArray(folder.path, "x"),
               "x-6.npy' after '" + folder / "x-4.npy" +
                   "', expected number 5: shards are numbered");
}

TEST_F(ShardedArrays, MayBeInAFolder) {
  folder.makeFolder("x");
  write("x/b.npy", 5, 20);
  write("x/a.npy", 0, 5);
  folder.write("x/notes.txt", "");
  auto array = findArray(folder.path, "x");
  ASSERT_TRUE(array);
  EXPECT_EQ(read(*array, 0, 60).back(), 59);
  EXPECT_FALSE(findArray(folder.path, "y"));
  write("x.npy", 0, 20);
  EXPECT_ERROR(findArray(folder.path, "x"), "found both");
}

TEST_F(ShardedArrays, HaveOneTypeAndShape) {
  write("x-0.npy", 0, 5);
  folder.writeNpy("x-1.npy", "'|u1'", "(5, 2)", values.data(), 10);
  EXPECT_ERROR(findArray(folder.path, "x"), "expected shards of one shape");
  folder.writeNpy("x-1.npy", "'|i1'", "(5, 3)", values.data(), 15);
  EXPECT_ERROR(findArray(folder.path, "x"), "expected shards of one type");
  folder.writeNpy("x-1.npy", "'|u1'", "()", values.data(), 1);
  EXPECT_ERROR(findArray(folder.path, "x"), "expected shards of one shape");
}

TEST_F(ShardedArrays, StreamsMayBeRaw) {
  folder.write("tokens-0.bin", std::string("\x01\x00\x02\x00", 4));
  folder.write("tokens-1.bin", std::string("\xff\xff", 2));
  auto tokens = findTokens(folder.path);
  ASSERT_TRUE(tokens);
  EXPECT_EQ(read(*tokens, 0, 3), (std::vector<int32_t>{1, 2, 65535}));
  folder.write("tokens.u32.bin", std::string("\x01\x00\x01\x00", 4));
  EXPECT_ERROR(findTokens(folder.path), "found both");
  std::filesystem::remove(folder / "tokens-0.bin");
  std::filesystem::remove(folder / "tokens-1.bin");
  EXPECT_EQ(read(*findTokens(folder.path), 0, 1), std::vector<int32_t>{65537});
  EXPECT_FALSE(findArray(folder.path, "tokens"));
}
