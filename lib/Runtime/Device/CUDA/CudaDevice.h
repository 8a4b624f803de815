//===- CudaDevice.h - the GPU of a rank -------------------------*- C++ -*-===//
//
// Streams for the computations of the plan, its communication, and copies of
// the next step's inputs. Each works in the order of the host's calls. Events
// order them where the plan starts and awaits operations.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
#define DTC_LIB_RUNTIME_DEVICE_CUDA_CUDADEVICE_H

#include "Blas.h"
#include "Device/Device.h"
#include "Device/DeviceClock.h"
#include "Dnn.h"
#include "Driver.h"
#include "Graph.h"
#include "dtc/Runtime/DeviceABI.h"

#include <memory>
#include <vector>

namespace dtc::rt {

/// An event that is recorded again and again.
class CudaEvent {
public:
  /// With a time, for `since`, it costs more.
  explicit CudaEvent(bool hasTime = false);
  ~CudaEvent();
  CudaEvent(const CudaEvent &) = delete;

  /// Records the work that is on the stream so far.
  void record(CUstream stream);
  /// Lets a stream wait for the event.
  void makeWait(CUstream stream) const;
  /// Lets the thread wait for the event.
  void synchronize() const;
  /// Milliseconds from another event to this one; both have completed.
  float since(const CudaEvent &other) const;

private:
  CUevent event;
};

/// Measures how long work on a stream takes.
class CudaTimer {
public:
  explicit CudaTimer(CUstream stream) : stream(stream) {}

  /// Seconds of the work that `work` puts on the stream.
  template <typename Work> double measure(const Work &work) {
    begin.record(stream);
    work();
    end.record(stream);
    end.synchronize();
    return end.since(begin) / 1e3;
  }

private:
  CUstream stream;
  CudaEvent begin{/*hasTime=*/true}, end{/*hasTime=*/true};
};

/// Pinned memory of the host, which the device reaches at the same addresses.
class PinnedMemory {
public:
  explicit PinnedMemory(int64_t bytes);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory &) = delete;

  char *data() const { return base; }
  int64_t size() const { return bytes; }

private:
  char *base;
  int64_t bytes;
};

class Progress;

/// As nvidia-smi writes it, without "GPU-".
std::string formatUuid(const CUuuid &uuid);

/// The number of a rank's GPU, among the visible ones: the local rank, or 0 if
/// a launcher gave the process one GPU.
int gpuOfRank(int localRank);

class CudaDevice : public Device {
public:
  /// Opens the GPU of this number, of those that the process may see, and loads
  /// the program's device code.
  /// With `usesGraphs`, each plan runs as one graph from its second time on.
  CudaDevice(int number, const dtc_device_program &program, bool usesGraphs);

  std::unique_ptr<Arena> makeArena(int64_t bytes, int64_t hostBytes,
                                   Sharing sharing) override;
  void run(dtc_step_fn plan, dtc_context &context, Arena &arena) override;
  void copyRows(void *to, int64_t toStride, const void *from,
                int64_t fromStride, int64_t rowBytes, int64_t rows) override;

  void synchronize() override;
  DeviceClock *clock() override { return ownClock.get(); }
  std::string describe() const override;
  /// "NVIDIA H100 80GB HBM3".
  std::string name() const;
  /// Differs from that of each other GPU, of any machine.
  CUuuid uuid() const;
  void tuneBy(Tuning &tuning) override;

  void launch(int32_t function, int64_t blocks, int32_t threads,
              char *const *arguments);
  const char *nameOf(int32_t function) const {
    return program.functions[function].name;
  }
  uint32_t argumentsOf(int32_t function) const {
    return program.functions[function].arguments;
  }
  void *constant(int64_t number) const;
  Blas &blas() { return *products; }
  /// The calls of cuDNN, in programs that have convolutions or attention.
  Dnn &dnn() { return *networks; }
  /// f32 products and convolutions may round their operands to tf32.
  void useTf32(bool isOn);

  /// Removes the graphs of plans on an arena that is destroyed.
  void forget(const char *arena) {
    std::erase_if(
        plans, [&](const auto &entry) { return entry.first.second == arena; });
  }

  /// Reports each run of a plan to `observer`.
  void report(Progress &observer) { progress = &observer; }
  /// The arguments of the plan that is running.
  const dtc_context &running() const { return *runningContext; }
  const Arena &runningArena() const { return *arenaOfRun; }

  CUstream compute() const { return computeStream; }
  CUstream communication() const { return communicationStream; }
  CUstream input() const { return inputStream; }

private:
  void load();

  /// A plan on an arena.
  struct PlanRuns {
    bool hasRun = false;
    Graph graph;
  };

  const dtc_device_program &program;
  bool usesGraphs;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUstream computeStream = nullptr, communicationStream = nullptr,
           inputStream = nullptr;
  std::vector<CUfunction> functions;
  std::vector<CUdeviceptr> constants;
  std::unique_ptr<Blas> products;
  std::unique_ptr<Dnn> networks;
  std::unique_ptr<DeviceClock> ownClock;
  std::map<std::pair<dtc_step_fn, char *>, PlanRuns> plans;
  Progress *progress = nullptr;
  const dtc_context *runningContext = nullptr;
  const Arena *arenaOfRun = nullptr;
};

/// Times on the compute stream.
std::unique_ptr<DeviceClock> makeCudaClock(CudaDevice &device);

/// The device of a call of generated code.
CudaDevice &deviceOf(dtc_context *context);

/// Memory of the device.
class DeviceMemory {
public:
  explicit DeviceMemory(int64_t bytes, bool isZeroed = true);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;

  /// For calls inside a step: ends the job if there is not enough memory.
  static std::unique_ptr<DeviceMemory>
  makeInStep(const char *purpose, int64_t bytes, bool isZeroed = true);

  CUdeviceptr address() const { return base; }
  int64_t size() const { return bytes; }

private:
  CUdeviceptr base = 0;
  int64_t bytes;
};

/// The address as the driver has it.
inline CUdeviceptr toDevice(const void *address) {
  return reinterpret_cast<CUdeviceptr>(address);
}

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
