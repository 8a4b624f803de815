//===- HostTensorTest.cpp - constant tensors ------------------------------===//
//
// Views, conversions and the compact form of constants.
//
//===----------------------------------------------------------------------===//

#include "Support/HostTensor.h"

#include "gtest/gtest.h"

#include <limits>

using namespace dtc::frontend;

TEST(HostTensor, ViewFollowsStrides) {
  HostTensor x = HostTensor::fromInts({0, 1, 2, 3, 4, 5}).reshaped({2, 3});
  EXPECT_EQ(x.transposed({1, 0}).toInts(),
            (std::vector<int64_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(x.view({2, 2}, {3, -2}, 2).toInts(),
            (std::vector<int64_t>{2, 0, 5, 3}));
}

TEST(HostTensor, BroadcastAlignsAtTheEnd) {
  HostTensor column = HostTensor::fromInts({7, 8}).reshaped({2, 1});
  EXPECT_EQ(column.broadcast({2, 2, 2}).toInts(),
            (std::vector<int64_t>{7, 7, 8, 8, 7, 7, 8, 8}));
}

TEST(HostTensor, CompactedDropsRepetition) {
  HostTensor row = HostTensor::fromInts({1, 2, 3}).reshaped({1, 3});
  HostTensor compact = row.broadcast({4, 2, 3}).compacted();
  EXPECT_EQ(toString(compact.shape()), "[1, 1, 3]");
  EXPECT_EQ(compact.toInts(), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(toString(row.compacted().shape()), "[1, 3]");
}

TEST(HostTensor, StoresTheRoundedValue) {
  EXPECT_EQ(HostTensor::scalar(DType::F32, 0.1).getFloat(0), double(0.1f));
  EXPECT_EQ(HostTensor::scalar(DType::F64, 0.1).getFloat(0), 0.1);
  HostTensor big = HostTensor::scalar(DType::F32, 1e30);
  EXPECT_EQ(big.getInt(0), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(HostTensor::scalar(DType::F32, 0.5).cast(DType::Bool).getInt(0), 1);
  EXPECT_EQ(HostTensor::scalar(DType::F32, -1.5).cast(DType::I64).getInt(0),
            -1);
}
