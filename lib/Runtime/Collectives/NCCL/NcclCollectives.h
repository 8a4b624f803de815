//===- NcclCollectives.h - communication between GPUs -----------*- C++ -*-===//
//
// All operations are on one stream, in the order of the plan. This order is the
// same for all members of a group, and the compiler has verified it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_NCCL_NCCLCOLLECTIVES_H
#define DTC_LIB_RUNTIME_COLLECTIVES_NCCL_NCCLCOLLECTIVES_H

#include "Collectives/Collectives.h"
#include "Collectives/Rendezvous.h"
#include "Collectives/Slots.h"
#include "Device/CUDA/CudaDevice.h"
#include "Nccl.h"
#include "Watchdog.h"

#include <functional>
#include <optional>

namespace dtc::rt {

class NcclCollectives : public Collectives {
public:
  explicit NcclCollectives(const Environment &environment)
      : environment(environment) {}
  ~NcclCollectives() override;

  /// Meets the other ranks, if there are any. `rendezvous` is a file that all
  /// of them see, or empty; `timeout` is how many seconds a call of a step
  /// waits for them.
  void meet(const CudaDevice &device, const std::string &rendezvous,
            int timeout);
  /// Throws an Error, on all ranks alike, if two of them have the same GPU.
  void expectOwnGpus() const;
  /// Creates the communicator of all ranks, after `meet`.
  void connect(CudaDevice &device);
  const Environment &where() const { return environment; }

  int rank() const override { return environment.rank; }
  int size() const override { return environment.size; }
  int localSize() const override { return environment.localSize; }
  int machine() const override {
    return environment.rank - environment.localRank;
  }
  void createGroups(const Program &program) override;
  void run(int group, const Collective &collective) override;
  void start(int group, int slot, const Collective &collective) override;
  int groupRank(int group) override { return groups[size_t(group)].rank; }
  int groupSize(int group) override { return groups[size_t(group)].size; }
  void send(int peer, int tag, int slot, const void *buffer,
            int64_t bytes) override;
  void recv(int peer, int tag, int slot, void *buffer, int64_t bytes) override;
  void wait(int slot) override;
  bool test(int) override { return false; }
  bool poll() override { return false; }
  void sendData(int peer, const void *buffer, int64_t bytes) override;
  void recvData(int peer, void *buffer, int64_t bytes) override;
  void gatherData(const void *input, void *output, int64_t bytes) override;
  int firstFailed(bool failed) override;
  void barrier() override;
  void finish() override;
  [[noreturn]] void abort() override;

private:
  struct Group {
    int rank, size;
    ncclComm_t communicator = nullptr; ///< null for one member alone
  };
  /// The message in which a rank introduces itself.
  struct Introduction;
  Introduction introductionOf(int rank) const;
  /// Puts work on the communication stream, after all computations so far.
  template <typename Work> void enqueue(const Work &work);
  /// The same for what calls NCCL.
  template <typename Work> void communicate(const Call &call, const Work &work);
  void put(int index, const Collective &collective);
  /// Records the end of the communication so far, for the wait of the slot.
  void record(int slot);
  /// Lets the thread wait for the communication stream.
  void finishStream();

  Environment environment;
  CudaDevice *device = nullptr;
  const Nccl *nccl = nullptr;
  const Program *program = nullptr;
  ncclComm_t world = nullptr;
  std::vector<Group> groups;
  std::unique_ptr<CudaEvent> computed, communicated;
  Slots<std::unique_ptr<CudaEvent>> slots;
  /// Through which data of the host go.
  std::unique_ptr<DeviceMemory> staging;
  std::unique_ptr<PinnedMemory> pinned;
  std::unique_ptr<Rendezvous> meeting; ///< while ranks find each other
  std::unique_ptr<Progress> progress;
  std::unique_ptr<Watchdog> watchdog;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_NCCL_NCCLCOLLECTIVES_H
