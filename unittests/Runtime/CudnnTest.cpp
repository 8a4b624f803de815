//===- CudnnTest.cpp - cuDNN itself has plans for convolutions ------------===//
//
// The library gives plans for a GPU by its properties alone, without one. So
// what it thinks of the runtime's descriptors is known on any machine that has
// the library; where it is missing, the tests are skipped.
//
//===----------------------------------------------------------------------===//

#include "Device/CUDA/Dnn.h"
#include "dtc/Runtime/DeviceABI.h"

#include "gtest/gtest.h"

#include <cstring>
#include <dlfcn.h>
#include <set>

using namespace dtc::rt;

// cuDNN keeps memory until the process ends, and unloads what asked for it.
#if __has_feature(address_sanitizer)
extern "C" int __lsan_is_turned_off() { return 1; }
#endif

// The runtime's archive refers to the program's.
const dtc_device_program dtc_device_v1 = {};

namespace {

// An H100 as the driver describes it.
const char h100[] = R"({
  "deviceName": "NVIDIA H100 80GB HBM3", "cudaDeviceId": 0, "deviceVer": 900,
  "driverVer": 13000, "multiProcessorCount": 132, "warpSize": 32,
  "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
  "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "maxCtasPerSM": 32,
  "regsPerBlock": 65536, "maxRegistersPerSM": 65536,
  "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
  "reservedSharedMemoryPerBlock": 1024, "l2CacheSize": 52428800,
  "smClockRateKHz": 1980000, "memClockRateKHz": 2619000,
  "totalGlobalMem": 85000000000, "pciDeviceId": 0, "isTccDriver": 0,
  "supportCoopLaunch": 1
})";

constexpr int64_t workspaceBytes = int64_t(1) << 30;

struct NamedShape {
  const char *name;
  int64_t n, size, c, filters, taps, stride, padding, dilation, groups;

  DnnConvolution get(dtc_dtype dtype, dtc_conv_role role, bool accumulate,
                     bool keepsSums) const {
    int64_t positions =
        (size + 2 * padding - dilation * (taps - 1) - 1) / stride + 1;
    return {dtype,   role,      accumulate, keepsSums, n,       size,   size,
            c,       positions, positions,  taps,      taps,    stride, stride,
            padding, padding,   dilation,   dilation,  filters, groups};
  }
};

const NamedShape shapes[] = {
    {"resnet_stem", 32, 224, 3, 64, 7, 2, 3, 1, 1},
    {"resnet_3x3", 32, 56, 64, 64, 3, 1, 1, 1, 1},
    {"resnet_3x3_down", 32, 28, 256, 256, 3, 2, 1, 1, 1},
    {"resnet_1x1", 32, 14, 1024, 256, 1, 1, 0, 1, 1},
    {"resnet_1x1_down", 32, 56, 256, 512, 1, 2, 0, 1, 1},
    {"patches", 32, 224, 3, 768, 16, 16, 0, 1, 1},
    {"depthwise", 32, 56, 96, 96, 7, 1, 3, 1, 96},
    {"groups", 32, 28, 64, 64, 3, 1, 1, 1, 4},
    {"dilated", 32, 28, 64, 64, 3, 1, 2, 2, 1},
    {"one_channel", 8, 8, 1, 8, 3, 1, 1, 1, 1},
};

class CudnnTest : public testing::Test {
protected:
  void SetUp() override {
    if (!dlopen("libcudnn.so.9", RTLD_NOW | RTLD_GLOBAL))
      GTEST_SKIP() << "there is no cuDNN here";
    properties.emplace(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
    properties
        ->set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
              sizeof h100 - 1, h100)
        .finalize();
  }
  std::optional<DnnProgram> find(const DnnConvolution &shape, int64_t alignment,
                                 bool usesTf32) {
    return findConvolution({nullptr, &*properties}, shape,
                           {alignment, alignment, alignment}, usesTf32,
                           workspaceBytes);
  }

  std::optional<DnnDescriptor> properties;
};

/// Descriptors that the library does not take end the process.
TEST_F(CudnnTest, HasPlansForEveryRoleAndType) {
  for (const NamedShape &shape : shapes)
    for (dtc_dtype dtype : {DTC_F32, DTC_F64, DTC_BF16, DTC_F16})
      for (dtc_conv_role role :
           {DTC_CONV_FORWARD, DTC_CONV_INPUT_GRAD, DTC_CONV_WEIGHT_GRAD})
        for (bool usesTf32 : {false, true})
          for (int64_t alignment : {256, 8})
            EXPECT_TRUE(
                find(shape.get(dtype, role, false, false), alignment, usesTf32))
                << shape.name << ", type " << dtype << ", role " << role
                << ", alignment " << alignment << ", tf32 " << usesTf32;
}

/// Plans of a graph have names of their own, which are the same tomorrow.
TEST_F(CudnnTest, NamesPlans) {
  size_t most = 0;
  for (const NamedShape &shape : shapes) {
    auto namesOf = [&] {
      auto program = findConvolution(
          {nullptr, &*properties, 4},
          shape.get(DTC_BF16, DTC_CONV_FORWARD, false, false), {256, 256, 256},
          /*usesTf32=*/false, workspaceBytes);
      EXPECT_TRUE(program) << shape.name;
      return program ? program->planNames(0) : std::vector<std::string>();
    };
    std::vector<std::string> names = namesOf();
    EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
    EXPECT_EQ(names, namesOf());
    most = std::max(most, names.size());
  }
  EXPECT_GT(most, 1u);
}

TEST_F(CudnnTest, AddsToWeightGradients) {
  for (const NamedShape &shape : shapes)
    for (dtc_dtype dtype : {DTC_F32, DTC_F64})
      EXPECT_TRUE(
          find(shape.get(dtype, DTC_CONV_WEIGHT_GRAD, true, false), 256, false))
          << shape.name << ", type " << dtype;
}

/// Whether there is a GPU, for which the library compiles.
bool hasGpu() {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  auto *init =
      driver ? reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"))
             : nullptr;
  return init && init(0) == 0;
}

/// 16-bit operands with sums in f32. The library compiles for these when they
/// are asked for; without a GPU, the descriptors alone are tested.
TEST_F(CudnnTest, KeepsSums) {
  bool isPossible = hasGpu();
  for (const NamedShape &shape : {shapes[0], shapes[1], shapes[6]})
    for (bool accumulate : {false, true})
      EXPECT_TRUE(
          find(shape.get(DTC_BF16, DTC_CONV_WEIGHT_GRAD, accumulate, true), 256,
               false) ||
          !isPossible)
          << shape.name << ", added " << accumulate;
}

/// Counts engines that would compile a graph, but for a driver that is missing.
class Willing {
public:
  Willing() {
    count = 0;
    set(CUDNN_SEV_WARNING_EN, &Willing::hear);
  }
  ~Willing() { set(0, nullptr); }

  static inline int count = 0;

private:
  static void set(unsigned severities, cudnnCallback_t callback) {
    auto *function = reinterpret_cast<decltype(&cudnnSetCallback)>(
        dlsym(RTLD_DEFAULT, "cudnnSetCallback"));
    ASSERT_TRUE(function);
    function(severities, nullptr, callback);
  }
  /// A message is lines that end with zeros, and a last one that is empty.
  static void hear(cudnnSeverity_t, void *, const cudnnDebug_t *,
                   const char *message) {
    for (; *message; message += strlen(message) + 1)
      count += strstr(message, "PREREQUISITE_MISSING") != nullptr;
  }
};

/// Causal, of grouped queries, of other keys than queries, a few heads of many,
/// packed, by parts and by heads, and with masks. As above; without a GPU,
/// there are engines that would compile it.
TEST_F(CudnnTest, HasAttention) {
  bool isPossible = hasGpu();
  std::vector<DnnAttention> shapes = {
      DnnAttention::dense(DTC_BF16, true, 0.125, 8, 1024, 1024, 12, 12, 64, 64),
      DnnAttention::dense(DTC_F16, true, 0.1, 2, 33, 33, 6, 2, 40, 40),
      DnnAttention::dense(DTC_BF16, false, 0.125, 2, 50, 77, 8, 8, 64, 64),
      DnnAttention::dense(DTC_BF16, true, 0.125, 1, 4096, 4096, 32, 8, 128,
                          128),
      DnnAttention::dense(DTC_BF16, true, 0.125, 8, 1024, 1024, 12, 12, 64, 64),
      DnnAttention::dense(DTC_F16, false, 0.1, 2, 33, 33, 6, 6, 40, 40)};
  shapes[3].heads = 4;
  shapes[3].groups = 1;
  shapes[4].pack(/*isByHead=*/false);
  shapes[5].pack(/*isByHead=*/true);
  // A few heads of each sample's, or of all samples'; of each query, or of all.
  const int masks[] = {0, DTC_MASK_BATCH, DTC_MASK_BATCH | DTC_MASK_QUERIES,
                       DTC_MASK_HEADS | DTC_MASK_QUERIES};
  for (size_t i : {0, 1, 2, 3})
    for (int dims : masks) {
      shapes.push_back(shapes[i]);
      shapes.back().maskDims = DTC_MASK_GIVEN | dims;
    }
  DnnTarget target{nullptr, &*properties};
  auto isKnown = [&](auto find, const DnnAttention &shape) {
    Willing willing;
    return find(target, shape, workspaceBytes) ||
           (!isPossible && Willing::count > 0);
  };
  for (size_t i = 0; i < shapes.size(); ++i) {
    EXPECT_TRUE(isKnown(findAttention, shapes[i])) << "shape " << i;
    EXPECT_TRUE(isKnown(findAttentionGrad, shapes[i])) << "shape " << i;
  }
}

/// Its gradient on a B200, by the engine that keeps its bits.
TEST_F(CudnnTest, HasAttentionGradOnBlackwell) {
  std::string b200(h100);
  auto replace = [&](const char *from, const char *to) {
    b200.replace(b200.find(from), strlen(from), to);
  };
  replace("NVIDIA H100 80GB HBM3", "NVIDIA B200");
  replace("\"deviceVer\": 900", "\"deviceVer\": 1000");
  replace("\"multiProcessorCount\": 132", "\"multiProcessorCount\": 148");
  DnnDescriptor blackwell(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  blackwell
      .set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
           int64_t(b200.size()), b200.c_str())
      .finalize();
  std::string refusal;
  DnnTarget target{nullptr, &blackwell, 1, &refusal, 100};
  std::vector<DnnAttention> shapes = {
      DnnAttention::dense(DTC_BF16, true, 0.125, 8, 1024, 1024, 12, 12, 64, 64),
      DnnAttention::dense(DTC_F16, false, 0.1, 2, 256, 256, 6, 2, 128, 128)};
  shapes.push_back(shapes[0]);
  shapes.back().pack(/*isByHead=*/false);
  for (size_t i = 0; i < shapes.size(); ++i) {
    Willing willing;
    EXPECT_TRUE(findAttentionGrad(target, shapes[i], workspaceBytes) ||
                (!hasGpu() && Willing::count > 0))
        << "shape " << i << ": " << refusal;
  }
}

/// The library refuses what its stand-in refuses.
TEST_F(CudnnTest, RefusesWhatDoesNotFit) {
  EXPECT_DEATH(DnnDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR).finalize(),
               "CUDNN_STATUS_BAD_PARAM");
  NamedShape shape = shapes[1];
  shape.groups = 3;
  EXPECT_DEATH(
      find(shape.get(DTC_F32, DTC_CONV_FORWARD, false, false), 256, false),
      "CUDNN_STATUS_BAD_PARAM");
}

} // namespace
