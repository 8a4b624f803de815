//===- NcclCollectives.cpp - communication between GPUs -------------------===//

#include "NcclCollectives.h"

#include "Core/Checksum.h"
#include "Core/Elements.h"
#include "Core/Error.h"
#include "Core/Fatal.h"
#include "Device/Device.h"
#include "Program/Context.h"
#include "System/Machine.h"
#include "dtc/Runtime/DeviceReserve.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace dtc::rt;

/// Ends the job unless a call of NCCL went well.
#define DTC_NCCL(call)                                                         \
  do {                                                                         \
    if (ncclResult_t result = nccl->call;                                      \
        result != ncclSuccess && result != ncclInProgress)                     \
      fatal("%s failed: %s (%s)", #call, nccl->ncclGetErrorString(result),     \
            nccl->ncclGetLastError(nullptr));                                  \
  } while (false)

//===----------------------------------------------------------------------===//
// Setting up
//===----------------------------------------------------------------------===//

struct NcclCollectives::Introduction {
  ncclUniqueId id; ///< that of rank 0 counts
  CUuuid gpu;
  uint64_t host;
  char gpuName[64];
};

/// As NCCL tells machines apart: ranks with other values of NCCL_HOSTID count
/// as those of several machines, which may share a GPU.
static uint64_t nameHost() {
  const char *id = getenv("NCCL_HOSTID");
  return Checksum::of(id ? std::string(id) : bootId());
}

void NcclCollectives::meet(const CudaDevice &own, const std::string &rendezvous,
                           int timeout) {
  if (size() == 1)
    return;
  nccl = &Nccl::get();
  Introduction introduction;
  memset(&introduction, 0, sizeof introduction);
  if (rank() == 0)
    DTC_NCCL(ncclGetUniqueId(&introduction.id));
  introduction.gpu = own.uuid();
  introduction.host = nameHost();
  strncpy(introduction.gpuName, own.name().c_str(),
          sizeof introduction.gpuName - 1);
  std::vector<char> bytes(sizeof introduction);
  memcpy(bytes.data(), &introduction, sizeof introduction);
  progress = std::make_unique<Progress>();
  watchdog = std::make_unique<Watchdog>(*nccl, *progress, timeout);
  Watchdog::Waiting waiting(watchdog.get(), {Call::start});
  meeting =
      std::make_unique<Rendezvous>(environment, rendezvous, timeout, bytes);
}

NcclCollectives::Introduction NcclCollectives::introductionOf(int rank) const {
  Introduction introduction;
  memcpy(&introduction,
         meeting->all().data() + size_t(rank) * sizeof introduction,
         sizeof introduction);
  return introduction;
}

void NcclCollectives::expectOwnGpus() const {
  if (size() == 1)
    return;
  std::map<std::pair<uint64_t, std::string>, int> owners;
  for (int member = 0; member < size(); ++member) {
    Introduction other = introductionOf(member);
    std::string uuid = formatUuid(other.gpu);
    auto [owner, isNew] = owners.try_emplace({other.host, uuid}, member);
    if (isNew)
      continue;
    fail("ranks %d and %d have the same GPU, %s with UUID %s, expected one "
         "for each; start fewer ranks on that machine, or give each another "
         "one in CUDA_VISIBLE_DEVICES",
         owner->second, member, other.gpuName, uuid.c_str());
  }
}

void NcclCollectives::connect(CudaDevice &own) {
  device = &own;
  computed = std::make_unique<CudaEvent>();
  communicated = std::make_unique<CudaEvent>();
  if (size() == 1)
    return;
  device->report(*progress);
  ncclUniqueId id = introductionOf(0).id;
  Watchdog::Waiting waiting(watchdog.get(), {Call::start});
  DTC_NCCL(ncclCommInitRank(&world, size(), id, rank()));
  watchdog->watch(world);
  meeting.reset();
  staging = std::make_unique<DeviceMemory>(stagingBytes);
  pinned = std::make_unique<PinnedMemory>(stagingBytes);
}

NcclCollectives::~NcclCollectives() {
  Watchdog::Waiting waiting(watchdog.get(), {Call::end});
  for (Group &group : groups)
    if (group.communicator)
      nccl->ncclCommDestroy(group.communicator);
  if (world)
    nccl->ncclCommDestroy(world);
}

void NcclCollectives::createGroups(const Program &program) {
  this->program = &program;
  const Mesh &mesh = program.mesh;
  if (watchdog)
    watchdog->observe(program);
  Watchdog::Waiting waiting(watchdog.get(), {Call::start});
  for (const std::vector<int> &axes : program.groups) {
    std::vector<int> members = mesh.members(axes, rank());
    Group group{mesh.place(axes, rank()), int(members.size())};
    if (group.size > 1) {
      DTC_NCCL(ncclCommSplit(world, members.front(), group.rank,
                             &group.communicator, nullptr));
      watchdog->watch(group.communicator);
    }
    groups.push_back(group);
  }
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

template <typename Work> void NcclCollectives::enqueue(const Work &work) {
  computed->record(device->compute());
  computed->makeWait(device->communication());
  work(device->communication());
}

template <typename Work>
void NcclCollectives::communicate(const Call &call, const Work &work) {
  enqueue([&](CUstream stream) {
    progress->call(
        stream, [&] { work(reinterpret_cast<cudaStream_t>(stream)); },
        [&] { return describe(call, program, &device->running()); });
  });
}

static ncclDataType_t typeOf(dtc_dtype dtype) {
  switch (dtype) {
  case DTC_F32:
    return ncclFloat32;
  case DTC_F64:
    return ncclFloat64;
  case DTC_BF16:
    return ncclBfloat16;
  case DTC_F16:
    return ncclFloat16;
  case DTC_I32:
    return ncclInt32;
  case DTC_I64:
    return ncclInt64;
  case DTC_BOOL: // one byte, 0 or 1
    return ncclUint8;
  default:
    fatal("NCCL reduces no elements of type %s", nameOf(dtype));
  }
}

/// A sum of booleans is whether any is true, as on CPUs.
static ncclRedOp_t operationOf(const Collective &c) {
  return c.reduction == DTC_MAX || c.dtype == DTC_BOOL ? ncclMax : ncclSum;
}

void NcclCollectives::put(int index, const Collective &c) {
  const Group &group = groups[size_t(index)];
  auto share = c.bytes();
  if (group.size == 1)
    return enqueue([&](CUstream stream) {
      if (c.input != c.output)
        DTC_CUDA(cuMemcpyAsync(toDevice(c.output), toDevice(c.input),
                               size_t(share), stream));
    });
  // NCCL reads device memory: a share in host memory is copied to its place in
  // the gathered buffer first.
  const void *input = c.input;
  if (c.kind == CollectiveKind::AllGather &&
      device->runningArena().isOnHost(c.input)) {
    char *own = static_cast<char *>(c.output) + group.rank * share;
    enqueue([&](CUstream stream) {
      DTC_CUDA(cuMemcpyAsync(toDevice(own), toDevice(c.input), size_t(share),
                             stream));
    });
    input = own;
  }
  communicate(Call::of(index, c), [&](cudaStream_t stream) {
    auto count = size_t(c.count);
    ncclDataType_t type = c.traits().reduces ? typeOf(c.dtype) : ncclInt8;
    ncclRedOp_t op = operationOf(c);
    auto at = [&](const void *buffer, int member) {
      return static_cast<const char *>(buffer) + member * share;
    };
    ncclComm_t members = group.communicator;
    switch (c.kind) {
    case CollectiveKind::AllReduce:
      DTC_NCCL(
          ncclAllReduce(c.input, c.output, count, type, op, members, stream));
      break;
    case CollectiveKind::ReduceScatter:
      DTC_NCCL(ncclReduceScatter(c.input, c.output, count, type, op, members,
                                 stream));
      break;
    case CollectiveKind::AllGather:
      DTC_NCCL(ncclAllGather(input, c.output, size_t(share), ncclInt8, members,
                             stream));
      break;
    case CollectiveKind::AllToAll:
      DTC_NCCL(ncclGroupStart());
      for (int member = 0; member < group.size; ++member) {
        DTC_NCCL(ncclSend(at(c.input, member), size_t(share), ncclInt8, member,
                          members, stream));
        DTC_NCCL(ncclRecv(const_cast<char *>(at(c.output, member)),
                          size_t(share), ncclInt8, member, members, stream));
      }
      DTC_NCCL(ncclGroupEnd());
      break;
    case CollectiveKind::CollectivePermute:
      DTC_NCCL(ncclGroupStart());
      for (int member = 0; member < group.size; ++member)
        if ((*c.sources)[size_t(member)] == group.rank)
          DTC_NCCL(ncclSend(c.input, size_t(share), ncclInt8, member, members,
                            stream));
      DTC_NCCL(ncclRecv(c.output, size_t(share), ncclInt8,
                        (*c.sources)[size_t(group.rank)], members, stream));
      DTC_NCCL(ncclGroupEnd());
      break;
    }
  });
}

void NcclCollectives::run(int group, const Collective &collective) {
  put(group, collective);
  communicated->record(device->communication());
  communicated->makeWait(device->compute());
}

void NcclCollectives::record(int slot) {
  std::unique_ptr<CudaEvent> &event = slots.take(slot);
  if (!event)
    event = std::make_unique<CudaEvent>();
  event->record(device->communication());
}

void NcclCollectives::start(int group, int slot, const Collective &collective) {
  put(group, collective);
  record(slot);
}

void NcclCollectives::wait(int slot) {
  if (!slots.isTaken(slot))
    return;
  slots[slot]->makeWait(device->compute());
  slots.free(slot);
}

void NcclCollectives::send(int peer, int, int slot, const void *buffer,
                           int64_t bytes) {
  communicate({Call::send, peer, bytes}, [&](cudaStream_t stream) {
    DTC_NCCL(ncclSend(buffer, size_t(bytes), ncclInt8, peer, world, stream));
  });
  record(slot);
}

void NcclCollectives::recv(int peer, int, int slot, void *buffer,
                           int64_t bytes) {
  communicate({Call::recv, peer, bytes}, [&](cudaStream_t stream) {
    DTC_NCCL(ncclRecv(buffer, size_t(bytes), ncclInt8, peer, world, stream));
  });
  record(slot);
}

//===----------------------------------------------------------------------===//
// Around the step
//===----------------------------------------------------------------------===//

void NcclCollectives::finishStream() {
  DTC_CUDA(cuStreamSynchronize(device->communication()));
  stopIfEnding();
}

void NcclCollectives::sendData(int peer, const void *buffer, int64_t bytes) {
  Watchdog::Waiting waiting(watchdog.get(), {Call::data, peer, bytes});
  auto *stream = reinterpret_cast<cudaStream_t>(device->communication());
  for (int64_t done = 0; done < bytes; done += stagingBytes) {
    int64_t piece = std::min(stagingBytes, bytes - done);
    memcpy(pinned->data(), static_cast<const char *>(buffer) + done,
           size_t(piece));
    DTC_CUDA(cuMemcpyHtoDAsync(staging->address(), pinned->data(),
                               size_t(piece), device->communication()));
    DTC_NCCL(ncclSend(reinterpret_cast<void *>(staging->address()),
                      size_t(piece), ncclInt8, peer, world, stream));
    finishStream();
  }
}

void NcclCollectives::recvData(int peer, void *buffer, int64_t bytes) {
  Watchdog::Waiting waiting(watchdog.get(), {Call::data, peer, bytes});
  auto *stream = reinterpret_cast<cudaStream_t>(device->communication());
  for (int64_t done = 0; done < bytes; done += stagingBytes) {
    int64_t piece = std::min(stagingBytes, bytes - done);
    DTC_NCCL(ncclRecv(reinterpret_cast<void *>(staging->address()),
                      size_t(piece), ncclInt8, peer, world, stream));
    DTC_CUDA(cuMemcpyDtoHAsync(pinned->data(), staging->address(),
                               size_t(piece), device->communication()));
    finishStream();
    memcpy(static_cast<char *>(buffer) + done, pinned->data(), size_t(piece));
  }
}

void NcclCollectives::gatherData(const void *input, void *output,
                                 int64_t bytes) {
  if (size() == 1) {
    memcpy(output, input, size_t(bytes));
    return;
  }
  Watchdog::Waiting waiting(watchdog.get(), {Call::all});
  int64_t most = stagingBytes / (size() + 1);
  for (int64_t done = 0; done < bytes; done += most) {
    int64_t piece = std::min(most, bytes - done);
    memcpy(pinned->data(), static_cast<const char *>(input) + done,
           size_t(piece));
    CUdeviceptr own = staging->address(), all = own + size_t(piece);
    DTC_CUDA(cuMemcpyHtoDAsync(own, pinned->data(), size_t(piece),
                               device->communication()));
    DTC_NCCL(ncclAllGather(
        reinterpret_cast<void *>(own), reinterpret_cast<void *>(all),
        size_t(piece), ncclInt8, world,
        reinterpret_cast<cudaStream_t>(device->communication())));
    DTC_CUDA(cuMemcpyDtoHAsync(pinned->data(), all, size_t(piece * size()),
                               device->communication()));
    finishStream();
    for (int member = 0; member < size(); ++member)
      memcpy(static_cast<char *>(output) + member * bytes + done,
             pinned->data() + member * piece, size_t(piece));
  }
}

/// Before ranks have met, the ranks of a machine fail alike, and the first one
/// reports. After they have met, and before NCCL connects them, all ranks fail
/// together.
int NcclCollectives::firstFailed(bool failed) {
  if (!world)
    return !failed ? -1 : meeting ? 0 : machine();
  std::vector<char> all(static_cast<size_t>(size()));
  char own = failed ? 1 : 0;
  gatherData(&own, all.data(), 1);
  for (int member = 0; member < size(); ++member)
    if (all[size_t(member)])
      return member;
  return -1;
}

void NcclCollectives::barrier() {
  if (world)
    firstFailed(false);
}

/// The watchdog ends before the first rank destroys its communicator.
void NcclCollectives::finish() {
  if (watchdog)
    watchdog->forgetCommunicators();
  barrier();
  if (device)
    device->synchronize();
}

void NcclCollectives::abort() {
  meeting.reset();
  if (watchdog)
    watchdog->abortCommunicators();
  _Exit(1);
}
