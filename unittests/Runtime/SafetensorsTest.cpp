//===- SafetensorsTest.cpp ------------------------------------------------===//

#include "Checkpoint/Safetensors.h"
#include "Expect.h"
#include "TemporaryDirectory.h"

#include <cstring>

using namespace dtc::rt;

static std::string withHeader(const std::string &header,
                              const std::string &data) {
  uint64_t length = header.size();
  return std::string(reinterpret_cast<char *>(&length), 8) + header + data;
}

TEST(Safetensors, RoundTrip) {
  TemporaryDirectory folder;
  std::string path = folder / "w.safetensors";
  double matrix[] = {1, 2, 3, 4, 5, 6};
  int64_t scalar = 7;
  {
    SafetensorsWriter writer(path, {{"layer.weight", DTC_F64, {2, 3}},
                                    {"a \"quoted\" name", DTC_I64, {}}});
    writer.append(matrix, sizeof matrix);
    writer.append(&scalar, sizeof scalar);
    EXPECT_FALSE(std::filesystem::exists(path)); // not before commit
    writer.commit();
  }
  std::string bytes = readFile(path);
  SafetensorsReader reader("'w'", bytes);
  ASSERT_EQ(reader.tensors().size(), 2u);
  const auto *weight = reader.find("layer.weight");
  ASSERT_TRUE(weight);
  EXPECT_EQ(weight->dtype, DTC_F64);
  EXPECT_EQ(weight->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(
      std::string_view(weight->data, sizeof matrix),
      std::string_view(reinterpret_cast<const char *>(matrix), sizeof matrix));
  EXPECT_EQ((weight->data - bytes.data()) % 8, 0);
  ASSERT_TRUE(reader.find("a \"quoted\" name"));
  EXPECT_FALSE(reader.find("absent"));
}

TEST(Safetensors, LeavesNothingBehindUnlessCommitted) {
  TemporaryDirectory folder;
  {
    SafetensorsWriter writer(folder / "w", {{"x", DTC_F32, {1}}});
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path));
}

TEST(Safetensors, WriteErrors) {
  EXPECT_ERROR(SafetensorsWriter("/nonexistent/w", {}),
               "cannot create '/nonexistent/w': No such file");
}

TEST(Safetensors, RefusesCorruptFiles) {
  EXPECT_ERROR(SafetensorsReader("'w'", "abc"), "found 3 bytes");
  EXPECT_ERROR(SafetensorsReader("'w'", "<html><body>hello</body></html>"),
               "no safetensors file, or truncated");
  EXPECT_ERROR(SafetensorsReader("'w'", withHeader("{nonsense", "")),
               "corrupt at the header");
  EXPECT_ERROR(
      SafetensorsReader("'w'", withHeader(std::string(100000, '['), "")),
      "corrupt at the header: it nests deeper than 64");
  EXPECT_ERROR(SafetensorsReader(
                   "'w'", withHeader(R"({"a": {"dtype": "F32", "shape": [1e30],
                                     "data_offsets": [0, 4]}})",
                                     "1234")),
               "found 1e+30, expected a whole number of 64 bits");
  EXPECT_ERROR(SafetensorsReader(
                   "'w'", withHeader(R"({"t": {"dtype": "F32", "shape": [2],
                                     "data_offsets": [0, 8]}})",
                                     "1234")),
               "tensor 't': bytes 0 to 8 of 4");
  EXPECT_ERROR(SafetensorsReader(
                   "'w'", withHeader(R"({"t": {"dtype": "F32", "shape": [3],
                                     "data_offsets": [0, 8]}})",
                                     "12345678")),
               "8 bytes for shape [3]");
  EXPECT_ERROR(
      SafetensorsReader("'w'", withHeader(R"({"t": {"dtype": "Q4", "shape": [],
                                     "data_offsets": [0, 0]}})",
                                          "")),
      "unknown element type 'Q4'");
}
