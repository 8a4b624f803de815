//===- CudaDevice.cpp - the GPU of a rank ---------------------------------===//

#include "CudaDevice.h"

#include "Core/Error.h"
#include "Core/Fatal.h"
#include "EmulatedImage.h"
#include "Program/Context.h"
#include "Progress.h"

#include <cstring>
#include <limits>

using namespace dtc::rt;

// Null in programs that do not call it: then the linker has left it out.
#pragma weak dtcrt_conv2d

/// Throws an Error unless a call of the driver went well. For setting up.
#define DTC_CUDA_SETUP(call)                                                   \
  do {                                                                         \
    const CudaDriver &driver = CudaDriver::get();                              \
    if (CUresult result = driver.call; result != CUDA_SUCCESS)                 \
      fail("%s failed: %s", #call, driver.describe(result));                   \
  } while (false)

//===----------------------------------------------------------------------===//
// Events and memory
//===----------------------------------------------------------------------===//

CudaEvent::CudaEvent(bool hasTime) {
  DTC_CUDA_SETUP(cuEventCreate(&event, hasTime ? CU_EVENT_DEFAULT
                                               : CU_EVENT_DISABLE_TIMING));
}

CudaEvent::~CudaEvent() { CudaDriver::get().cuEventDestroy(event); }

void CudaEvent::record(CUstream stream) {
  DTC_CUDA(cuEventRecord(event, stream));
}

void CudaEvent::makeWait(CUstream stream) const {
  DTC_CUDA(cuStreamWaitEvent(stream, event, 0));
}

void CudaEvent::synchronize() const { DTC_CUDA(cuEventSynchronize(event)); }

float CudaEvent::since(const CudaEvent &other) const {
  float milliseconds = 0;
  DTC_CUDA(cuEventElapsedTime(&milliseconds, other.event, event));
  return milliseconds;
}

PinnedMemory::PinnedMemory(int64_t bytes) : base(nullptr), bytes(bytes) {
  const CudaDriver &driver = CudaDriver::get();
  void *memory = nullptr;
  if (CUresult result = driver.cuMemHostAlloc(&memory, size_t(bytes), 0);
      result != CUDA_SUCCESS)
    fail(
        "the machine gives no %s of pinned memory, expected that much for each "
        "rank: %s; see what else uses its memory",
        formatBytes(double(bytes)).c_str(), driver.describe(result));
  base = static_cast<char *>(memory);
}

PinnedMemory::~PinnedMemory() { CudaDriver::get().cuMemFreeHost(base); }

DeviceMemory::DeviceMemory(int64_t bytes, bool isZeroed) : bytes(bytes) {
  const CudaDriver &driver = CudaDriver::get();
  size_t wanted = size_t(std::max<int64_t>(bytes, 1));
  if (CUresult result = driver.cuMemAlloc(&base, wanted);
      result != CUDA_SUCCESS) {
    size_t free = 0, total = 0;
    driver.cuMemGetInfo(&free, &total);
    fail("this GPU has %s free of %s, expected %s: %s; see what else uses it, "
         "or compile with --device-memory",
         formatBytes(double(free)).c_str(), formatBytes(double(total)).c_str(),
         formatBytes(double(bytes)).c_str(), driver.describe(result));
  }
  if (!isZeroed)
    return;
  DTC_CUDA_SETUP(cuMemsetD8Async(base, 0, wanted, nullptr));
  DTC_CUDA_SETUP(cuStreamSynchronize(nullptr));
}

std::unique_ptr<DeviceMemory>
DeviceMemory::makeInStep(const char *purpose, int64_t bytes, bool isZeroed) {
  try {
    return std::make_unique<DeviceMemory>(bytes, isZeroed);
  } catch (const Error &error) {
    fatal("no memory for %s: %s", purpose, error.what());
  }
}

DeviceMemory::~DeviceMemory() { CudaDriver::get().cuMemFree(base); }

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

CudaDevice &dtc::rt::deviceOf(dtc_context *context) {
  return static_cast<CudaDevice &>(context->device);
}

std::string dtc::rt::formatUuid(const CUuuid &uuid) {
  std::string text;
  for (size_t i = 0; i < sizeof uuid.bytes; ++i)
    text += format("%s%02x", i >= 4 && i <= 10 && i % 2 == 0 ? "-" : "",
                   (unsigned char)uuid.bytes[i]);
  return text;
}

int dtc::rt::gpuOfRank(int localRank) {
  int devices = 0;
  DTC_CUDA_SETUP(cuDeviceGetCount(&devices));
  return devices == 1 ? 0 : localRank;
}

CudaDevice::CudaDevice(int number, const dtc_device_program &program,
                       bool usesGraphs)
    : program(program), usesGraphs(usesGraphs) {
  if (program.abi_version != DTC_DEVICE_ABI_VERSION)
    fail("this program has device code of ABI version %u, expected %u; compile "
         "and link it with one version of dtc",
         program.abi_version, DTC_DEVICE_ABI_VERSION);
  int devices = 0;
  DTC_CUDA_SETUP(cuDeviceGetCount(&devices));
  if (number >= devices)
    fail("found %d GPUs, expected one for each rank of this machine, of which "
         "this is number %d, or one GPU that is this rank's; start fewer ranks "
         "here, or see CUDA_VISIBLE_DEVICES",
         devices, number);
  DTC_CUDA_SETUP(cuDeviceGet(&device, number));
  DTC_CUDA_SETUP(cuDevicePrimaryCtxRetain(&context, device));
  DTC_CUDA_SETUP(cuCtxSetCurrent(context));
  // Communication goes first where both have work.
  DTC_CUDA_SETUP(
      cuStreamCreateWithPriority(&computeStream, CU_STREAM_NON_BLOCKING, 0));
  DTC_CUDA_SETUP(cuStreamCreateWithPriority(&communicationStream,
                                            CU_STREAM_NON_BLOCKING, -1));
  DTC_CUDA_SETUP(
      cuStreamCreateWithPriority(&inputStream, CU_STREAM_NON_BLOCKING, 0));
  load();
  products = std::make_unique<Blas>(computeStream);
  ownClock = makeCudaClock(*this);
  int major = 0, minor = 0;
  DTC_CUDA_SETUP(cuDeviceGetAttribute(
      &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  DTC_CUDA_SETUP(cuDeviceGetAttribute(
      &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  if (dtcrt_conv2d) {
    networks = std::make_unique<Dnn>(computeStream, major * 10 + minor);
    networks->workspaceBytes = int64_t(program.workspace_bytes);
  }
}

std::string CudaDevice::name() const {
  char text[256];
  DTC_CUDA_SETUP(cuDeviceGetName(text, sizeof text, device));
  return text;
}

CUuuid CudaDevice::uuid() const {
  CUuuid id;
  DTC_CUDA_SETUP(cuDeviceGetUuid_v2(&id, device));
  return id;
}

/// "NVIDIA H100 80GB HBM3, cuBLASLt 130002".
std::string CudaDevice::describe() const {
  std::string text = name() + ", " + products->describe();
  return networks ? text + ", " + Dnn::describe() : text;
}

void CudaDevice::tuneBy(Tuning &tuning) {
  products->tuneBy(tuning);
  if (networks)
    networks->tuneBy(tuning);
}

void CudaDevice::useTf32(bool isOn) {
  products->usesTf32 = isOn;
  if (networks)
    networks->usesTf32 = isOn;
}

/// Machine code if the GPU has its architecture, else the driver compiles PTX.
void CudaDevice::load() {
  const CudaDriver &driver = CudaDriver::get();
  EmulatedImage emulated(program);
  CUresult result = CUDA_ERROR_NO_BINARY_FOR_GPU;
  if (program.cubin)
    result =
        driver.cuModuleLoadDataEx(&module, program.cubin, 0, nullptr, nullptr);
  if (result != CUDA_SUCCESS && program.ptx)
    result =
        driver.cuModuleLoadDataEx(&module, program.ptx, 0, nullptr, nullptr);
  if (!program.ptx)
    result = driver.cuModuleLoadDataEx(&module, &emulated, 0, nullptr, nullptr);
  if (result != CUDA_SUCCESS)
    fail("this GPU does not load code for %s: %s; compile the program with "
         "dtc --arch for this GPU",
         program.architecture, driver.describe(result));
  functions.resize(program.num_functions);
  for (uint32_t i = 0; i < program.num_functions; ++i) {
    const dtc_device_function &function = program.functions[i];
    if (function.arguments > DTC_MAX_DEVICE_ARGUMENTS)
      fail("device function %s takes %u buffers, expected at most %d",
           function.name, function.arguments, DTC_MAX_DEVICE_ARGUMENTS);
    DTC_CUDA_SETUP(cuModuleGetFunction(&functions[i], module, function.name));
  }
  for (uint64_t i = 0; i < program.num_constants; ++i) {
    const dtc_device_constant &constant = program.constants[i];
    CUdeviceptr copy;
    DTC_CUDA_SETUP(cuMemAlloc(&copy, constant.bytes));
    DTC_CUDA_SETUP(
        cuMemcpyHtoDAsync(copy, constant.data, constant.bytes, computeStream));
    constants.push_back(copy);
  }
  synchronize();
}

void CudaDevice::synchronize() {
  DTC_CUDA(cuStreamSynchronize(computeStream));
  DTC_CUDA(cuStreamSynchronize(communicationStream));
  stopIfEnding();
}

void CudaDevice::run(dtc_step_fn plan, dtc_context &context, Arena &arena) {
  runningContext = &context;
  arenaOfRun = &arena;
  if (progress)
    progress->beginRun();
  auto makeCalls = [&] {
    if (progress)
      progress->beginCalls(reinterpret_cast<const void *>(plan));
    plan(&context, arena.address(), arena.hostAddress());
  };
  PlanRuns &runs = plans[{plan, arena.address()}];
  // The first run is not captured: libraries choose algorithms and connect
  // ranks. Traced runs are not captured, because their times come from calls,
  // and neither are runs whose results are checked.
  bool isObserved = context.trace || context.finiteCheck ||
                    context.gradientNoise || context.predictions;
  if (!usesGraphs || !runs.hasRun || isObserved) {
    makeCalls();
    runs.hasRun = true;
    return;
  }
  if (!runs.graph.isCaptured())
    runs.graph.capture(computeStream, makeCalls);
  runs.graph.launch(computeStream);
}

void CudaDevice::copyRows(void *to, int64_t toStride, const void *from,
                          int64_t fromStride, int64_t rowBytes, int64_t rows) {
  // The driver has limits on how far rows are apart.
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (rows == 1 || toStride > most || fromStride > most) {
    for (int64_t i = 0; i < rows; ++i)
      DTC_CUDA(cuMemcpyDtoDAsync(toDevice(to) + size_t(i * toStride),
                                 toDevice(from) + size_t(i * fromStride),
                                 size_t(rowBytes), computeStream));
    return;
  }
  CUDA_MEMCPY2D copy;
  memset(&copy, 0, sizeof copy);
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = toDevice(from);
  copy.srcPitch = size_t(fromStride);
  copy.dstDevice = toDevice(to);
  copy.dstPitch = size_t(toStride);
  copy.WidthInBytes = size_t(rowBytes);
  copy.Height = size_t(rows);
  DTC_CUDA(cuMemcpy2DAsync(&copy, computeStream));
}

void CudaDevice::launch(int32_t number, int64_t blocks, int32_t threads,
                        char *const *arguments) {
  const dtc_device_function &function = program.functions[number];
  void *places[DTC_MAX_DEVICE_ARGUMENTS];
  for (uint32_t i = 0; i < function.arguments; ++i)
    places[i] = static_cast<void *>(const_cast<char **>(&arguments[i]));
  const CudaDriver &driver = CudaDriver::get();
  CUresult result = driver.cuLaunchKernel(
      functions[size_t(number)], unsigned(blocks), 1, 1, unsigned(threads), 1,
      1, 0, computeStream, places, nullptr);
  if (result != CUDA_SUCCESS)
    fatal("launching %s failed: %s", function.name, driver.describe(result));
}

void *CudaDevice::constant(int64_t number) const {
  return reinterpret_cast<void *>(constants[size_t(number)]);
}
