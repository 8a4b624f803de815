//===- FileAgreementTest.cpp - bytes that ranks compare -------------------===//

#include "Agreement/FileAgreement.h"

#include <gtest/gtest.h>

using namespace dtc::rt;

TEST(FileAgreement, ReadsSmallFilesWhole) {
  std::string labels(100000, '\0'), same = labels, large(300 << 20, '\0');
  auto sum = [&](const std::string &text) {
    return checksums({{"x", large}, {"labels", text}}, {false, 1}).back();
  };
  EXPECT_EQ(sum(labels), sum(same));
  for (size_t place : {size_t(0), size_t(54321), labels.size() - 1}) {
    std::string other = labels;
    other[place] = 1;
    EXPECT_NE(sum(labels), sum(other)) << place;
  }
}

TEST(FileAgreement, ReadsSamplesOfLargeFiles) {
  std::string one(300 << 20, '\0'), other = one;
  auto sum = [](const std::string &text, FileCoverage coverage) {
    return checksums({{"x", text}}, coverage)[0];
  };
  for (size_t place : {size_t(100), other.size() - 1}) {
    other[place] = 1;
    EXPECT_NE(sum(one, {false, 1}), sum(other, {false, 1})) << place;
    other[place] = 0;
  }
  // Copies that differ from some byte on differ in many blocks.
  std::fill(other.begin() + (150 << 20), other.end() - 5000, char(1));
  EXPECT_NE(sum(one, {false, 1}), sum(other, {false, 1}));
  // A single different byte is seen only if all bytes are compared.
  other = one;
  other[123456789] = 1;
  EXPECT_EQ(sum(one, {false, 1}), sum(other, {false, 1}));
  EXPECT_NE(sum(one, {true, 1}), sum(other, {true, 1}));
}
