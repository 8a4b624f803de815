//===- DnnTest.cpp - attention by graphs of cuDNN, on its stand-in --------===//
//
// The test computes the reference in f64 from the definition of attention.
//
//===----------------------------------------------------------------------===//

#include "Device/CUDA/Dnn.h"
#include "Device/CUDA/CudaDevice.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace dtc::rt;

// The runtime's archive refers to the program's.
const dtc_device_program dtc_device_v1 = {};

namespace {

using Numbers = std::vector<double>;

double round16(double value) {
  auto narrow = float(value);
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
  memcpy(&narrow, &bits, sizeof bits);
  return narrow;
}

/// A buffer in the memory of the fake device, which is host memory.
class Buffer {
public:
  Buffer(const Numbers &numbers, bool isNarrow)
      : isNarrow(isNarrow), count(numbers.size()),
        memory(int64_t(count) * (isNarrow ? 2 : 4)) {
    for (size_t i = 0; i < count; ++i) {
      auto value = float(numbers[i]);
      uint32_t bits;
      memcpy(&bits, &value, sizeof bits);
      auto half = uint16_t(bits >> 16);
      if (isNarrow)
        memcpy(data() + i * 2, &half, 2);
      else
        memcpy(data() + i * 4, &bits, 4);
    }
  }
  char *data() const { return reinterpret_cast<char *>(memory.address()); }
  Numbers read() const {
    Numbers numbers;
    for (size_t i = 0; i < count; ++i) {
      uint32_t bits = 0;
      if (isNarrow)
        memcpy(reinterpret_cast<char *>(&bits) + 2, data() + i * 2, 2);
      else
        memcpy(&bits, data() + i * 4, 4);
      float value;
      memcpy(&value, &bits, 4);
      numbers.push_back(value);
    }
    return numbers;
  }

private:
  bool isNarrow;
  size_t count;
  DeviceMemory memory;
};

/// Queries, keys, values, mask, result, lse, gradients of result, queries,
/// keys, values.
struct Operands {
  static constexpr size_t count = 10;
  Numbers numbers[count];

  static bool isGiven(size_t i) { return i < 4 || i == 6; }
};

/// The index in the mask for a sample, head, query and key.
size_t placeInMask(const DnnAttention &s, int64_t b, int64_t h, int64_t t,
                   int64_t u) {
  int64_t place = s.maskDims & DTC_MASK_BATCH ? b : 0;
  if (s.maskDims & DTC_MASK_HEADS)
    place = place * s.heads + h;
  if (s.maskDims & DTC_MASK_QUERIES)
    place = place * s.rows + t;
  return size_t(place * s.cols + u);
}

/// Computes the expected results of the given numbers.
void computeReference(const DnnAttention &s, Operands &o) {
  auto &[q, k, v, mask, result, lse, dresult, dq, dk, dv] = o.numbers;
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t h = 0; h < s.heads; ++h) {
      int64_t g = h / (s.heads / s.groups);
      auto query = [&](int64_t t) {
        return size_t(((b * s.rows + t) * s.heads + h) * s.width);
      };
      auto key = [&](int64_t u) {
        return size_t(((b * s.cols + u) * s.groups + g) * s.width);
      };
      for (int64_t t = 0; t < s.rows; ++t) {
        int64_t seen = s.causal ? t + 1 : s.cols;
        Numbers p(static_cast<size_t>(seen));
        double sum = 0, along = 0;
        for (int64_t u = 0; u < seen; ++u) {
          double score = 0;
          for (size_t i = 0; i < size_t(s.width); ++i)
            score += q[query(t) + i] * k[key(u) + i];
          score *= s.scale;
          if (s.maskDims)
            score += mask[placeInMask(s, b, h, t, u)];
          sum += p[size_t(u)] = std::exp(score);
        }
        lse[size_t((b * s.heads + h) * s.rows + t)] = std::log(sum);
        for (int64_t u = 0; u < seen; ++u)
          for (size_t i = 0; i < size_t(s.width); ++i)
            result[query(t) + i] += p[size_t(u)] / sum * v[key(u) + i];
        for (size_t i = 0; i < size_t(s.width); ++i)
          along += result[query(t) + i] * dresult[query(t) + i];
        for (int64_t u = 0; u < seen; ++u) {
          double weight = p[size_t(u)] / sum, slope = 0;
          for (size_t i = 0; i < size_t(s.width); ++i) {
            slope += dresult[query(t) + i] * v[key(u) + i];
            dv[key(u) + i] += weight * dresult[query(t) + i];
          }
          slope = (slope - along) * weight * s.scale;
          for (size_t i = 0; i < size_t(s.width); ++i) {
            dq[query(t) + i] += slope * k[key(u) + i];
            dk[key(u) + i] += slope * q[query(t) + i];
          }
        }
      }
    }
}

class DnnTest : public testing::Test {
protected:
  DnnTest() {
    const CudaDriver &driver = CudaDriver::get();
    CUcontext context;
    driver.cuDevicePrimaryCtxRetain(&context, 0);
    driver.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0);
    dnn.emplace(stream, /*architecture=*/90);
  }

  /// Computes the library's results of the given numbers.
  Operands compute(const DnnAttention &shape, const Operands &given) {
    std::vector<std::unique_ptr<Buffer>> buffers;
    std::vector<const void *> addresses;
    for (size_t i = 0; i < Operands::count; ++i) {
      Numbers numbers(given.numbers[i].size(), 0.0);
      buffers.push_back(std::make_unique<Buffer>(
          Operands::isGiven(i) ? given.numbers[i] : numbers, i != 5));
      bool isMissing = i == 3 && !shape.maskDims;
      addresses.push_back(isMissing ? nullptr : buffers.back()->data());
    }
    dnn->attend(shape, false, std::span(addresses).first(6));
    dnn->attend(shape, true, addresses);
    CudaDriver::get().cuStreamSynchronize(stream);
    Operands found;
    for (size_t i = 0; i < Operands::count; ++i)
      found.numbers[i] = buffers[i]->read();
    return found;
  }

  CUstream stream;
  std::optional<Dnn> dnn;
};

Operands makeOperands(const DnnAttention &s) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  Operands o;
  size_t queries = size_t(s.batch * s.rows * s.heads * s.width),
         keys = size_t(s.batch * s.cols * s.groups * s.width),
         rows = size_t(s.batch * s.heads * s.rows);
  size_t mask =
      placeInMask(s, s.batch - 1, s.heads - 1, s.rows - 1, s.cols - 1);
  const size_t counts[] = {queries, keys,    keys,    mask + 1, queries,
                           rows,    queries, queries, keys,     keys};
  for (size_t i = 0; i < Operands::count; ++i) {
    o.numbers[i].resize(counts[i]);
    if (Operands::isGiven(i))
      for (double &x : o.numbers[i])
        x = round16(normal(random));
  }
  return o;
}

void expectNear(const Operands &found, const Operands &expected) {
  for (size_t i = 4; i < Operands::count; ++i) {
    double largest = 0;
    for (double x : expected.numbers[i])
      largest = std::max(largest, std::abs(x));
    for (size_t e = 0; e < expected.numbers[i].size(); ++e)
      ASSERT_NEAR(found.numbers[i][e], expected.numbers[i][e], largest * 1e-2)
          << "operand " << i << " element " << e;
  }
}

/// Causal; grouped queries; other keys than queries; and these with masks that
/// have some of samples, heads and queries.
std::vector<DnnAttention> makeShapes() {
  std::vector<DnnAttention> shapes = {
      DnnAttention::dense(DTC_BF16, true, 0.3, 2, 20, 20, 2, 2, 16, 16),
      DnnAttention::dense(DTC_BF16, true, 0.25, 3, 17, 17, 6, 2, 8, 8),
      DnnAttention::dense(DTC_BF16, false, 0.2, 2, 9, 31, 4, 1, 24, 24)};
  const int masks[] = {0,
                       DTC_MASK_BATCH,
                       DTC_MASK_HEADS,
                       DTC_MASK_QUERIES,
                       DTC_MASK_BATCH | DTC_MASK_QUERIES,
                       DTC_MASK_BATCH | DTC_MASK_HEADS | DTC_MASK_QUERIES};
  for (size_t i = 0; i < 3; ++i)
    for (int dims : masks) {
      shapes.push_back(shapes[i]);
      shapes.back().maskDims = DTC_MASK_GIVEN | dims;
    }
  return shapes;
}

TEST_F(DnnTest, AttendsAsDefined) {
  for (const DnnAttention &shape : makeShapes()) {
    Operands expected = makeOperands(shape);
    Operands found = compute(shape, expected);
    computeReference(shape, expected);
    expectNear(found, expected);
  }
}

/// A gradient that is computed in parts (one group at a time, two of four
/// groups, or two of three samples) has the same bits as a whole one.
TEST_F(DnnTest, AttendsInParts) {
  std::vector<DnnAttention> shapes = makeShapes();
  for (int dims : {DTC_MASK_BATCH | DTC_MASK_HEADS | DTC_MASK_QUERIES,
                   DTC_MASK_HEADS | DTC_MASK_QUERIES}) {
    shapes.push_back(
        DnnAttention::dense(DTC_BF16, false, 0.3, 3, 17, 9, 8, 4, 8, 8));
    shapes.back().maskDims = DTC_MASK_GIVEN | dims;
  }
  for (const DnnAttention &shape : shapes) {
    Operands given = makeOperands(shape);
    dnn->workspaceBytes = int64_t(1) << 30;
    Operands whole = compute(shape, given);
    // A group takes at most 128 x 128 16-bit numbers for each of its heads, in
    // half of the workspace.
    int64_t group = 128 * 128 * 2 * 2 * shape.heads / shape.groups;
    for (int64_t count : {int64_t(1), shape.groups / 2, 2 * shape.groups}) {
      dnn->workspaceBytes = std::max<int64_t>(count, 1) * group;
      Operands parts = compute(shape, given);
      for (size_t i = 4; i < Operands::count; ++i)
        EXPECT_EQ(whole.numbers[i], parts.numbers[i])
            << "operand " << i << ", " << count << " groups";
    }
  }
}

/// Masks hide keys by numbers that leave other keys unchanged. A query may see
/// a single key.
TEST_F(DnnTest, HidesKeys) {
  DnnAttention shape =
      DnnAttention::dense(DTC_BF16, false, 0.3, 2, 9, 31, 2, 2, 16, 16);
  shape.maskDims = DTC_MASK_GIVEN | DTC_MASK_BATCH | DTC_MASK_QUERIES;
  Operands expected = makeOperands(shape);
  Numbers &mask = expected.numbers[3];
  for (size_t i = 0; i < mask.size(); ++i) {
    size_t query = i / 31 % 9, key = i % 31;
    mask[i] = key == 3 * query ? 0 : query % 2 ? -INFINITY : round16(-60000);
    if (query == 4)
      mask[i] = key < 20 ? round16(-60000) : 0;
  }
  Operands found = compute(shape, expected);
  computeReference(shape, expected);
  expectNear(found, expected);
}

/// One tensor with queries, keys and values gives the same bits as three.
TEST_F(DnnTest, AttendsPacked) {
  for (bool isByHead : {false, true}) {
    DnnAttention shape =
        DnnAttention::dense(DTC_BF16, true, 0.3, 2, 20, 20, 3, 3, 16, 16);
    Operands given = makeOperands(shape);
    Operands apart = compute(shape, given);
    // The index of element e of a part.
    auto place = [&](size_t part, size_t e) {
      auto width = size_t(shape.width), heads = size_t(shape.heads);
      size_t i = e % width, h = e / width % heads, token = e / width / heads;
      return isByHead ? ((token * heads + h) * 3 + part) * width + i
                      : ((token * 3 + part) * heads + h) * width + i;
    };
    Numbers packed(given.numbers[0].size() * 3);
    for (size_t part = 0; part < 3; ++part)
      for (size_t e = 0; e < given.numbers[part].size(); ++e)
        packed[place(part, e)] = given.numbers[part][e];
    Buffer operand(packed, true), gradient(Numbers(packed.size()), true),
        result(Numbers(apart.numbers[4].size()), true),
        lse(Numbers(apart.numbers[5].size()), false),
        dresult(given.numbers[6], true);
    shape.pack(isByHead);
    std::vector<const void *> addresses = {
        nullptr,    nullptr,        nullptr, nullptr, result.data(),
        lse.data(), dresult.data(), nullptr, nullptr, nullptr};
    for (size_t part = 0; part < 3; ++part) {
      addresses[part] = operand.data() + place(part, 0) * 2;
      addresses[part + 7] = gradient.data() + place(part, 0) * 2;
    }
    dnn->attend(shape, false, std::span(addresses).first(6));
    dnn->attend(shape, true, addresses);
    CudaDriver::get().cuStreamSynchronize(stream);
    EXPECT_EQ(result.read(), apart.numbers[4]);
    EXPECT_EQ(lse.read(), apart.numbers[5]);
    Numbers found = gradient.read();
    for (size_t part = 0; part < 3; ++part)
      for (size_t e = 0; e < apart.numbers[part + 7].size(); ++e)
        ASSERT_EQ(found[place(part, e)], apart.numbers[part + 7][e])
            << "by head " << isByHead << " part " << part << " element " << e;
  }
}

//===----------------------------------------------------------------------===//
// Calls that the stand-in refuses
//===----------------------------------------------------------------------===//

DnnConvolution makeConvolution(int64_t channels, int64_t filters,
                               int64_t groups) {
  return {DTC_F32, DTC_CONV_FORWARD,
          false,   false,
          2,       8,
          8,       channels,
          8,       8,
          3,       3,
          1,       1,
          1,       1,
          1,       1,
          filters, groups};
}

class DnnDeathTest : public DnnTest {
protected:
  DnnDeathTest() {
    DnnFunctions::get().cudnnCreate(&handle);
    DnnFunctions::get().cudnnSetStream(handle,
                                       reinterpret_cast<cudaStream_t>(stream));
  }
  ~DnnDeathTest() override { DnnFunctions::get().cudnnDestroy(handle); }

  cudnnHandle_t handle;
};

TEST_F(DnnDeathTest, SaysWhatIsNotSet) {
  EXPECT_DEATH(DnnDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR).finalize(),
               "attribute 906 is not set");
}

TEST_F(DnnDeathTest, SaysWhatDoesNotFit) {
  EXPECT_DEATH(findConvolution({handle}, makeConvolution(8, 6, 4),
                               {256, 256, 256}, false, 1 << 20),
               "channels, filters or batches of a convolution do not fit");
}

TEST_F(DnnDeathTest, SaysWhichAddressIsNotAligned) {
  auto program = findConvolution({handle}, makeConvolution(8, 8, 1),
                                 {256, 256, 256}, false, 1 << 20);
  ASSERT_TRUE(program);
  DeviceMemory memory(1 << 16);
  auto *data = reinterpret_cast<char *>(memory.address());
  const void *operands[] = {data, data + (1 << 14) + 4, data + (1 << 15)};
  EXPECT_DEATH(program->run(handle, operands, data + (3 << 14)),
               "a plan for multiples of 256 bytes");
}

TEST_F(DnnDeathTest, SaysWhatIsNotAllocated) {
  auto program = findConvolution({handle}, makeConvolution(8, 8, 1),
                                 {256, 256, 256}, false, 1 << 20);
  ASSERT_TRUE(program);
  DeviceMemory memory(1 << 16);
  auto *data = reinterpret_cast<char *>(memory.address());
  const void *operands[] = {data, data + (1 << 14), data + (1 << 15)};
  EXPECT_DEATH(program->run(handle, operands, nullptr), "not all allocated");
}

} // namespace
