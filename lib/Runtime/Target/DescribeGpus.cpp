//===- DescribeGpus.cpp - GPUs in --diagnose ------------------------------===//

#include "Collectives/NCCL/Nccl.h"
#include "Core/Error.h"
#include "Core/Outcome.h"
#include "Device/CUDA/CudaDevice.h"
#include "System/Machine.h"

#include "Target.h"

using namespace dtc::rt;

// Null in programs that do not call it, which then need no cuDNN.
#pragma weak dtcrt_conv2d

/// Throws an Error unless a call of the driver went well.
static void check(CUresult result, const char *what) {
  if (result != CUDA_SUCCESS)
    fail("%s: %s", what, CudaDriver::get().describe(result));
}

static std::string describeDriver() {
  const CudaDriver &driver = CudaDriver::get();
  int version = 0;
  check(driver.cuDriverGetVersion(&version), "cuDriverGetVersion");
  std::string text =
      format("driver     CUDA %d.%d, %s", version / 1000, version % 1000 / 10,
             fileOf(reinterpret_cast<const void *>(driver.cuInit)).c_str());
  std::string kernel;
  if (FILE *file = fopen("/proc/driver/nvidia/version", "r")) {
    char line[256];
    if (fgets(line, sizeof line, file))
      kernel = line;
    fclose(file);
  }
  while (!kernel.empty() && kernel.back() == '\n')
    kernel.pop_back();
  return kernel.empty() ? text : text + "; " + kernel;
}

static std::string describeGpu(int number) {
  const CudaDriver &driver = CudaDriver::get();
  CUdevice device = 0;
  char name[256] = "", bus[32] = "";
  size_t bytes = 0;
  int major = 0, minor = 0, processors = 0;
  CUuuid uuid = {};
  check(driver.cuDeviceGet(&device, number), "cuDeviceGet");
  check(driver.cuDeviceGetName(name, sizeof name, device), "cuDeviceGetName");
  check(driver.cuDeviceTotalMem(&bytes, device), "cuDeviceTotalMem");
  check(driver.cuDeviceGetUuid_v2(&uuid, device), "cuDeviceGetUuid");
  check(driver.cuDeviceGetPCIBusId(bus, sizeof bus, device),
        "cuDeviceGetPCIBusId");
  auto attribute = [&](int *value, CUdevice_attribute which) {
    check(driver.cuDeviceGetAttribute(value, which, device),
          "cuDeviceGetAttribute");
  };
  attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  attribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  return format("GPU %-6d %s, sm_%d%d, %d multiprocessors, %s, UUID %s, %s",
                number, name, major, minor, processors,
                formatBytes(double(bytes)).c_str(), formatUuid(uuid).c_str(),
                bus);
}

/// Says whether GPUs reach each other's memory.
static std::string describeLinks(int count) {
  const CudaDriver &driver = CudaDriver::get();
  std::string apart;
  for (int from = 0; from < count; ++from)
    for (int to = 0; to < count; ++to) {
      int can = 1;
      if (from != to)
        check(driver.cuDeviceCanAccessPeer(&can, from, to),
              "cuDeviceCanAccessPeer");
      if (!can)
        apart += format("%s%d to %d", apart.empty() ? "" : ", ", from, to);
    }
  return apart.empty()
             ? "links      each GPU reaches the memory of each other directly"
             : "links      through the host only: GPU " + apart;
}

std::vector<DeviceLine> dtc::rt::describeDevices(bool communicates) {
  std::vector<DeviceLine> lines;
  auto add = [&](const char *name, const auto &describe) {
    std::string text;
    Outcome outcome = attempt([&] { text = describe(); });
    lines.push_back({outcome.failed ? format("%-10s FAILED: %s", name,
                                             outcome.message.c_str())
                                    : text,
                     outcome.failed});
    return !outcome.failed;
  };
  bool hasDriver = add("driver", describeDriver);
  add("library", [] { return "library    " + Blas::describeLibrary(); });
  if (dtcrt_conv2d)
    add("library", [] {
      return "library    " + Dnn::describe() + ", " +
             fileOf(reinterpret_cast<const void *>(
                 DnnFunctions::get().cudnnCreate));
    });
  if (communicates)
    add("library", [] {
      const Nccl &nccl = Nccl::get();
      int version = 0;
      nccl.ncclGetVersion(&version);
      return format(
          "library    NCCL %d.%d.%d, %s", version / 10000, version / 100 % 100,
          version % 100,
          fileOf(reinterpret_cast<const void *>(nccl.ncclAllReduce)).c_str());
    });
  int count = 0;
  if (!hasDriver || !add("GPUs", [&] {
        check(CudaDriver::get().cuDeviceGetCount(&count), "cuDeviceGetCount");
        return format("GPUs       %d that this process sees", count);
      }))
    return lines;
  for (int number = 0; number < count; ++number)
    add("GPU", [&] { return describeGpu(number); });
  if (count > 1)
    add("links", [&] { return describeLinks(count); });
  return lines;
}
