//===- Cuda.cpp - a stand-in of CUDA's driver -----------------------------===//
//
// Runs device functions that a program has as code of the host (dtc --arch
// host). Only what the runtime calls is here.
//
//===----------------------------------------------------------------------===//

#include "Device/CUDA/EmulatedImage.h"
#include "Grid.h"
#include "Machine.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <map>

using namespace dtc::standin;

static Machine &machine() { return Machine::get(); }

/// Handles of streams are their numbers, from 1; the default stream is 0.
static int streamOf(CUstream stream) {
  return int(reinterpret_cast<intptr_t>(stream));
}
static CUstream handleOf(int stream) {
  return reinterpret_cast<CUstream>(intptr_t(stream));
}

static CUresult resultOf(Captured captured) {
  switch (captured) {
  case Captured::fine:
    return CUDA_SUCCESS;
  case Captured::unsupported:
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  case Captured::invalidated:
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  case Captured::isolation:
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  case Captured::unjoined:
    return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  case Captured::event:
    return CUDA_ERROR_CAPTURED_EVENT;
  }
  return CUDA_ERROR_UNKNOWN;
}

/// Returns the error of a call that the driver refuses during this thread's
/// capture.
#define REFUSE_IN_CAPTURE()                                                    \
  if (machine().isCapturing())                                                 \
  return resultOf(machine().invalidate(Captured::unsupported))

static Event &eventOf(CUevent event) {
  return *reinterpret_cast<Event *>(event);
}

/// Numbers of the GPUs that the process may see: those of CUDA_VISIBLE_DEVICES,
/// or the first DTC_STANDIN_DEVICES.
static std::vector<int> visibleDevices() {
  const char *text = getenv("DTC_STANDIN_DEVICES");
  int all = text ? int(strtol(text, nullptr, 10)) : 64;
  std::vector<int> visible;
  const char *list = getenv("CUDA_VISIBLE_DEVICES");
  if (!list) {
    for (int number = 0; number < all; ++number)
      visible.push_back(number);
    return visible;
  }
  // The first that there is not ends the list.
  for (char *end; *list; list = end + (*end == ',')) {
    long number = strtol(list, &end, 10);
    if (end == list || number < 0 || number >= all)
      break;
    visible.push_back(int(number));
  }
  return visible;
}

static int numberOfDevices() { return int(visibleDevices().size()); }

static void *host(CUdeviceptr address) {
  return reinterpret_cast<void *>(address);
}

namespace {
/// Bytes of the device: DTC_STANDIN_MEMORY, or 64 GiB.
struct DeviceMemory {
  size_t total = size_t(64) << 30, used = 0;
  std::map<CUdeviceptr, size_t> allocated;

  DeviceMemory() {
    if (const char *text = getenv("DTC_STANDIN_MEMORY"))
      total = strtoull(text, nullptr, 10);
  }
  static DeviceMemory &get() {
    static DeviceMemory memory;
    return memory;
  }
};

struct Function {
  const dtc_device_function *code;
};
struct Module {
  std::vector<Function> functions;
};
} // namespace

extern "C" {

CUresult cuInit(unsigned) { return CUDA_SUCCESS; }

CUresult cuDriverGetVersion(int *version) {
  *version = 13000;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
  *count = numberOfDevices();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int number) {
  *device = number;
  return number < numberOfDevices() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice) {
  strncpy(name, "stand-in", size_t(length));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  strncpy(uuid->bytes, "stand-in", sizeof uuid->bytes);
  int number = visibleDevices()[size_t(device)];
  memcpy(uuid->bytes + 8, &number, sizeof number);
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice) {
  *bytes = DeviceMemory::get().total;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device) {
  snprintf(text, size_t(length), "0000:%02x:00.0",
           unsigned(visibleDevices()[size_t(device)]));
  return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice, CUdevice) {
  *can = 1;
  return CUDA_SUCCESS;
}

/// The architecture is DTC_STANDIN_ARCH, such as 100, or 11.
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                              CUdevice) {
  const char *text = getenv("DTC_STANDIN_ARCH");
  int architecture = text ? int(strtol(text, nullptr, 10)) : 11;
  *value = 1;
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
    *value = architecture / 10;
  if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
    *value = architecture % 10;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  *context = nullptr;
  while (machine().createStream() < 1) // 0 is the default stream
    ;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }

CUresult cuMemGetInfo(size_t *free, size_t *total) {
  const DeviceMemory &memory = DeviceMemory::get();
  *total = memory.total;
  *free = memory.total - memory.used;
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  REFUSE_IN_CAPTURE();
  DeviceMemory &memory = DeviceMemory::get();
  if (bytes > memory.total - memory.used)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(machine().allocate(bytes));
  memory.used += memory.allocated[*address] = bytes;
  return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree(CUdeviceptr address) {
  REFUSE_IN_CAPTURE();
  DeviceMemory &memory = DeviceMemory::get();
  memory.used -= memory.allocated[address];
  memory.allocated.erase(address);
  machine().free(host(address));
  return CUDA_SUCCESS;
}

/// Allocates at most DTC_STANDIN_PINNED bytes at a time, if it is set.
CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned) {
  REFUSE_IN_CAPTURE();
  if (const char *most = getenv("DTC_STANDIN_PINNED");
      most && bytes > strtoull(most, nullptr, 10))
    return CUDA_ERROR_OUT_OF_MEMORY;
  *address = machine().allocate(bytes);
  return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFreeHost(void *address) {
  REFUSE_IN_CAPTURE();
  machine().free(address);
  return CUDA_SUCCESS;
}

/// Only what is the device's, or pinned, is checked.
static std::vector<Access> accessesOf(const void *from, void *to,
                                      uint64_t bytes) {
  std::vector<Access> accesses;
  if (machine().isAllocated(from, bytes))
    accesses.push_back({from, bytes, false});
  if (machine().isAllocated(to, bytes))
    accesses.push_back({to, bytes, true});
  return accesses;
}

static CUresult copy(void *to, const void *from, size_t bytes, CUstream stream,
                     const char *name, const void *device) {
  if (bytes && !machine().isAllocated(device, bytes))
    fault("%s of %zu bytes at %p, which are not all allocated", name, bytes,
          device);
  machine().add(streamOf(stream), name, accessesOf(from, to, bytes), [=] {
    memcpy(to, from, bytes);
    return true;
  });
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
                           CUstream stream) {
  return copy(host(to), from, bytes, stream, "copy_to_device", host(to));
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes,
                           CUstream stream) {
  return copy(to, host(from), bytes, stream, "copy_to_host", host(from));
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                           CUstream stream) {
  if (to < from + bytes && from < to + bytes && bytes)
    fault("copies %zu bytes between buffers that overlap", bytes);
  return copy(host(to), host(from), bytes, stream, "copy", host(from));
}

/// Between the device and pinned memory, too.
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                       CUstream stream) {
  return cuMemcpyDtoDAsync(to, from, bytes, stream);
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *c, CUstream stream) {
  std::vector<Access> accesses;
  for (size_t row = 0; row < c->Height; ++row) {
    accesses.push_back(
        {host(c->srcDevice + row * c->srcPitch), c->WidthInBytes, false});
    accesses.push_back(
        {host(c->dstDevice + row * c->dstPitch), c->WidthInBytes, true});
  }
  machine().add(streamOf(stream), "copy_rows", accesses, [c = *c] {
    for (size_t row = 0; row < c.Height; ++row)
      memcpy(host(c.dstDevice + row * c.dstPitch),
             host(c.srcDevice + row * c.srcPitch), c.WidthInBytes);
    return true;
  });
  return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char byte, size_t bytes,
                         CUstream stream) {
  machine().add(streamOf(stream), "fill", {{host(to), bytes, true}}, [=] {
    memset(host(to), byte, bytes);
    return true;
  });
  return CUDA_SUCCESS;
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count,
                          CUstream stream) {
  machine().add(streamOf(stream), "fill", {{host(to), count * 2, true}}, [=] {
    std::fill_n(static_cast<unsigned short *>(host(to)), count, value);
    return true;
  });
  return CUDA_SUCCESS;
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned, int) {
  *stream = handleOf(machine().createStream());
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream) {
  if (machine().isCaptured(streamOf(stream)))
    return resultOf(machine().invalidate(Captured::unsupported));
  machine().finish(machine().getClock(streamOf(stream)));
  return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream stream) {
  if (machine().isCaptured(streamOf(stream)))
    return resultOf(machine().invalidate(Captured::unsupported));
  return machine().query(machine().getClock(streamOf(stream)))
             ? CUDA_SUCCESS
             : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  if (machine().hasBug("drop-wait") ||
      (machine().isCapturing() && machine().hasBug("drop-captured-wait")))
    return CUDA_SUCCESS;
  return resultOf(machine().wait(streamOf(stream), eventOf(event)));
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr to, cuuint32_t value,
                              unsigned) {
  machine().add(streamOf(stream), "write_value",
                {{host(to), sizeof value, true}}, [=] {
                  __atomic_store_n(static_cast<cuuint32_t *>(host(to)), value,
                                   __ATOMIC_RELEASE);
                  return true;
                });
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  auto *made = new Event;
  if (!(flags & CU_EVENT_DISABLE_TIMING))
    made->time = std::make_shared<int64_t>();
  *event = reinterpret_cast<CUevent>(made);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event) {
  delete &eventOf(event);
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  if (auto time = eventOf(event).time)
    machine().add(streamOf(stream), "time", {}, [time] {
      *time = std::chrono::nanoseconds(
                  std::chrono::steady_clock::now().time_since_epoch())
                  .count();
      return true;
    });
  machine().record(eventOf(event), streamOf(stream));
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
  REFUSE_IN_CAPTURE();
  if (eventOf(event).captureOf)
    return CUDA_ERROR_CAPTURED_EVENT;
  return machine().query(eventOf(event).reached) ? CUDA_SUCCESS
                                                 : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent event) {
  REFUSE_IN_CAPTURE();
  if (eventOf(event).captureOf)
    return CUDA_ERROR_CAPTURED_EVENT;
  if (machine().hasBug("drop-host-wait"))
    return CUDA_SUCCESS;
  machine().finish(eventOf(event).reached);
  return CUDA_SUCCESS;
}

#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float *milliseconds, CUevent first,
                            CUevent second) {
  const Event &begin = eventOf(first), &end = eventOf(second);
  if (!begin.time || !end.time)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!machine().query(begin.reached) || !machine().query(end.reached))
    return CUDA_ERROR_NOT_READY;
  *milliseconds = float(double(*end.time - *begin.time) / 1e6);
  return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode) {
  if (machine().isCapturing())
    return CUDA_ERROR_ILLEGAL_STATE;
  machine().beginCapture(streamOf(stream));
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  std::unique_ptr<Graph> made;
  Captured captured = machine().endCapture(streamOf(stream), made);
  *graph = captured == Captured::fine
               ? reinterpret_cast<CUgraph>(made.release())
               : nullptr;
  return resultOf(captured);
}

CUresult cuGraphInstantiate(CUgraphExec *executable, CUgraph graph,
                            unsigned long long) {
  *executable = reinterpret_cast<CUgraphExec>(
      new Graph(*reinterpret_cast<Graph *>(graph)));
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  delete reinterpret_cast<Graph *>(graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec executable) {
  delete reinterpret_cast<Graph *>(executable);
  return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  REFUSE_IN_CAPTURE();
  machine().launch(*reinterpret_cast<Graph *>(executable), streamOf(stream));
  return CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned,
                            CUjit_option *, void **) {
  REFUSE_IN_CAPTURE();
  const auto *emulated = dtc::rt::EmulatedImage::find(image);
  if (!emulated)
    return CUDA_ERROR_INVALID_IMAGE;
  auto *loaded = new Module;
  for (uint32_t i = 0; i < emulated->program->num_functions; ++i)
    loaded->functions.push_back({&emulated->program->functions[i]});
  *module = reinterpret_cast<CUmodule>(loaded);
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name) {
  for (Function &known : reinterpret_cast<Module *>(module)->functions)
    if (strcmp(known.code->name, name) == 0) {
      *function = reinterpret_cast<CUfunction>(&known);
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_NOT_FOUND;
}

CUresult cuLaunchKernel(CUfunction handle, unsigned blocks, unsigned, unsigned,
                        unsigned threads, unsigned, unsigned, unsigned,
                        CUstream stream, void **parameters, void **) {
  const dtc_device_function &code = *reinterpret_cast<Function *>(handle)->code;
  if (blocks == 0 || threads == 0 || threads > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<char *> arguments;
  std::vector<Access> accesses;
  for (uint32_t i = 0; i < code.arguments; ++i) {
    arguments.push_back(*static_cast<char **>(parameters[i]));
    accesses.push_back(
        {arguments[i], code.places[i].bytes, code.places[i].is_written != 0});
  }
  uint64_t seed = machine().draw();
  if (blocks > 1 && machine().hasBug("fewer-blocks"))
    --blocks;
  int where = streamOf(stream) + machine().hasBug("next-stream");
  machine().add(
      where, std::string("kernel ") + code.name, accesses, [=, &code] {
        runGrid(code, blocks, int32_t(threads), arguments.data(), seed);
        return true;
      });
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult result, const char **name) {
  switch (result) {
  case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    *name = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
    break;
  case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
    *name = "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED";
    break;
  case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
    *name = "CUDA_ERROR_STREAM_CAPTURE_ISOLATION";
    break;
  case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
    *name = "CUDA_ERROR_STREAM_CAPTURE_UNJOINED";
    break;
  case CUDA_ERROR_CAPTURED_EVENT:
    *name = "CUDA_ERROR_CAPTURED_EVENT";
    break;
  default:
    *name = "stand-in";
  }
  return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult, const char **text) {
  *text = "an error of the stand-in";
  return CUDA_SUCCESS;
}

} // extern "C"
