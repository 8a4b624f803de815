//===- NpyTest.cpp --------------------------------------------------------===//

#include "Data/Npy.h"
#include "Expect.h"
#include "TemporaryDirectory.h"

#include <fstream>
#include <sys/stat.h>

using namespace dtc::rt;

TEST(Npy, ATruncatedFileIsNamedWhenItIsRead) {
  TemporaryDirectory folder;
  std::vector<char> data(1 << 16);
  std::string path =
      folder.writeNpy("x.npy", "'|u1'", "(65536,)", data.data(), data.size());
  Npy other(folder.write("other.bin", "ab"), DTC_U16);
  Npy file(path);
  std::filesystem::resize_file(path, 4096);
  setLinePrefix("t: ");
  EXPECT_EXIT(
      {
        char last = file.data()[65535];
        fprintf(stderr, "%d", last);
      },
      testing::ExitedWithCode(1),
      "^t: error: '.*/x.npy' became unreadable while it was used: it was "
      "truncated, or its disk failed");
}

TEST(Npy, RawNumbers) {
  TemporaryDirectory folder;
  Npy file(folder.write("x.bin", std::string("\x01\x00\xff\xff", 4)), DTC_U16);
  EXPECT_EQ(file.shape(), std::vector<int64_t>{2});
  int64_t values[2];
  convert(file.dtype(), file.data(), DTC_I64, values, 2);
  EXPECT_EQ(values[1], 65535);
  EXPECT_ERROR(Npy(folder.write("y.bin", "abc"), DTC_U16),
               "has 3 bytes, expected a multiple of 2: raw u16 numbers");
}

TEST(Npy, ReadsAndConverts) {
  TemporaryDirectory folder;
  uint8_t bytes[] = {0, 1, 2, 253, 254, 255};
  Npy file(folder.writeNpy("x.npy", "'|u1'", "(2, 3)", bytes, 6));
  EXPECT_EQ(file.shape(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(file.dtype(), DTC_U8);
  float floats[6];
  convert(file.dtype(), file.data(), DTC_F32, floats, 6);
  EXPECT_EQ(floats[5], 255.0f);
  int64_t wide[6];
  convert(file.dtype(), file.data(), DTC_I64, wide, 6);
  EXPECT_EQ(wide[3], 253);
}

TEST(Npy, HalfFloats) {
  // 1, -2, the largest, the smallest subnormal, infinity.
  uint16_t halves[] = {0x3c00, 0xc000, 0x7bff, 0x0001, 0x7c00};
  float floats[5];
  convert(DTC_F16, halves, DTC_F32, floats, 5);
  EXPECT_EQ(floats[0], 1.0f);
  EXPECT_EQ(floats[1], -2.0f);
  EXPECT_EQ(floats[2], 65504.0f);
  EXPECT_EQ(floats[3], 0x1p-24f);
  EXPECT_EQ(floats[4], __builtin_inff());
}

TEST(Npy, ScalarAndVectorShapes) {
  TemporaryDirectory folder;
  double values[3] = {1, 2, 3};
  EXPECT_TRUE(
      Npy(folder.writeNpy("s.npy", "'<f8'", "()", values, 8)).shape().empty());
  EXPECT_EQ(Npy(folder.writeNpy("v.npy", "'<f8'", "(3,)", values, 24)).shape(),
            std::vector<int64_t>{3});
}

TEST(Npy, RefusesWhatItCannotRead) {
  TemporaryDirectory folder;
  char data[64] = {};
  auto npy = [&](const char *descr, const char *shape, size_t bytes,
                 const char *order = "False") {
    return folder.writeNpy("x.npy", descr, shape, data, bytes, order);
  };
  EXPECT_ERROR(Npy(folder / "absent.npy"), "No such file");
  EXPECT_ERROR(Npy(folder.path), "is not a file");
  ASSERT_EQ(mkfifo((folder / "pipe.npy").c_str(), 0600), 0);
  EXPECT_ERROR(Npy(folder / "pipe.npy"), "is not a file"); // does not wait
  EXPECT_ERROR(Npy("/dev/zero"), "is not a file");
  EXPECT_ERROR(Npy(folder.write("x.npy", "")), "not a .npy file");
  EXPECT_ERROR(Npy(folder.write("x.npy", "<html>hello</html>")),
               "starts with '<html>'");
  EXPECT_ERROR(Npy(folder.write("x.npy", std::string("\x93NUMPY\x09\x00"
                                                     "ab",
                                                     10))),
               "version 9");
  EXPECT_ERROR(
      Npy(folder.write("x.npy", std::string("\x93NUMPY\x01\x00\x76\x00{", 11))),
      "truncated: its header ends at byte 128, the file has 11");
  EXPECT_ERROR(Npy(npy("'<f4'", "(4, 4)", 63)),
               "shape [4, 4] of <f4 needs 64 bytes of data, the file has 63");
  EXPECT_ERROR(Npy(npy("'<f4'", "(4294967296, 4294967296)", 63)), "truncated");
  EXPECT_ERROR(Npy(npy("'|O'", "(4,)", 64)), "Python objects");
  EXPECT_ERROR(Npy(npy("[('a', '<f4')]", "(4,)", 64)), "records");
  EXPECT_ERROR(Npy(npy("'>f4'", "(4,)", 64)), "'>f4'");
  EXPECT_ERROR(Npy(npy("'<c8'", "(4,)", 64)), "'<c8'");
  EXPECT_ERROR(Npy(npy("'<f4'", "(2, 2)", 64, "True")), "Fortran order");
  EXPECT_ERROR(Npy(npy("'<f4'", "oops", 64)), "corrupt .npy header");
  EXPECT_ERROR(Npy(npy("'<f4'", "(-4, 4)", 64)), "corrupt .npy header");
}

TEST(Elements, Conversions) {
  EXPECT_TRUE(isConvertible(DTC_U8, DTC_F32));
  EXPECT_TRUE(isConvertible(DTC_F64, DTC_F32));
  EXPECT_TRUE(isConvertible(DTC_I64, DTC_I32));
  EXPECT_FALSE(isConvertible(DTC_F32, DTC_I64));
}

TEST(Elements, FindsValuesOutside) {
  int32_t values[] = {0, 4, -100, 5};
  std::string text;
  EXPECT_EQ(findOutside(DTC_I32, values, 4, {0, 4, -100}, text), 3);
  EXPECT_EQ(text, "5");
  EXPECT_EQ(findOutside(DTC_I32, values, 4, {0, 5, 0}, text), 2);
  EXPECT_EQ(findOutside(DTC_I32, values, 4, {-100, 5, 0}, text), -1);
  uint64_t huge = ~uint64_t(0);
  EXPECT_EQ(findOutside(DTC_U64, &huge, 1, rangeOf(DTC_I64), text), 0);
}
