//===- ParameterTableTest.cpp - the safetensors file of a table -----------===//
//
// Checks the bytes of the file against the description of the format.
//
//===----------------------------------------------------------------------===//

#include "dtc/Frontend/ParameterTable.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cstring>

using namespace dtc;

static Parameter parameter(llvm::StringRef name, llvm::ArrayRef<float> values) {
  Parameter result;
  result.name = name.str();
  result.shape = {int64_t(values.size())};
  result.bytes = {reinterpret_cast<const char *>(values.data()),
                  values.size() * sizeof(float)};
  return result;
}

TEST(ParameterTable, WritesSafetensors) {
  const float first[] = {1, 2}, second[] = {3};
  ParameterTable table;
  table.parameters.push_back(parameter("a", first));
  table.parameters.push_back(parameter("without", {}));
  table.parameters.back().hasData = false;
  table.parameters.push_back(parameter("b\"", second));

  std::string file;
  llvm::raw_string_ostream os(file);
  writeSafetensors(os, table);

  uint64_t headerSize;
  std::memcpy(&headerSize, file.data(), 8);
  EXPECT_EQ(headerSize % 8, 0u);
  ASSERT_EQ(file.size(), 8 + headerSize + 12);
  auto header = llvm::json::parse(llvm::StringRef(file).substr(8, headerSize));
  ASSERT_TRUE(bool(header));
  auto expected = llvm::json::parse(
      R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
          "b\"": {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]}})");
  EXPECT_EQ(*header, *expected);
  float last;
  std::memcpy(&last, file.data() + file.size() - 4, 4);
  EXPECT_EQ(last, 3);
}

TEST(ParameterTable, FindsByName) {
  ParameterTable table;
  table.parameters.push_back(parameter("a", {}));
  EXPECT_EQ(table.find("a"), table.parameters.data());
  EXPECT_EQ(table.find("b"), nullptr);
}
