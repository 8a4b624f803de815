//===- MPI.cpp - collectives through MPI ----------------------------------===//

#include "Collectives.h"
#include "Core/Fatal.h"

#include "Core/Elements.h"
#include "Program/Program.h"
#include "Reduce.h"
#include "Slots.h"
#include "System/ThreadWithoutSignals.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstdlib>
#include <mpi.h>
#include <mutex>
#include <thread>
#include <vector>

using namespace dtc::rt;
using dtc::CollectiveKind;

namespace {

/// MPI counts with int; larger buffers travel in pieces of this many elements.
constexpr int64_t pieceCount = int64_t(1) << 30;
/// Tags of blocking transfers outside the steps.
constexpr int dataTag = 0, noticeTag = 1;

void check(int code, const char *call) {
  if (code == MPI_SUCCESS)
    return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  fatal("%s failed: %s", call, text);
}

MPI_Datatype typeOf(dtc_dtype dtype) {
  switch (dtype) {
  case DTC_F32:
    return MPI_FLOAT;
  case DTC_F64:
    return MPI_DOUBLE;
  case DTC_I32:
    return MPI_INT32_T;
  case DTC_I64:
    return MPI_INT64_T;
  case DTC_BOOL:
    return MPI_C_BOOL;
  case DTC_BF16:
  case DTC_F16: // MPI has neither
    return MPI_UINT16_T;
  default:
    fatal("reduction of element type %s", nameOf(dtype));
  }
}

template <dtc_dtype dtype, dtc_reduction reduction>
void reduceForMpi(void *x, void *target, int *count, MPI_Datatype *) {
  reduceInto(dtype, reduction, target, x, *count);
}

template <dtc_dtype dtype, dtc_reduction reduction> MPI_Op createOperation() {
  MPI_Op operation;
  check(
      MPI_Op_create(reduceForMpi<dtype, reduction>, /*commute=*/1, &operation),
      "MPI_Op_create");
  return operation;
}

template <dtc_dtype dtype> MPI_Op operationOn(dtc_reduction reduction) {
  static const MPI_Op sum = createOperation<dtype, DTC_SUM>();
  static const MPI_Op max = createOperation<dtype, DTC_MAX>();
  return reduction == DTC_SUM ? sum : max;
}

MPI_Op operationOf(dtc_dtype dtype, dtc_reduction reduction) {
  if (dtype == DTC_BF16)
    return operationOn<DTC_BF16>(reduction);
  if (dtype == DTC_F16)
    return operationOn<DTC_F16>(reduction);
  if (dtype == DTC_BOOL) // 0 and 1: both reductions are "any"
    return MPI_LOR;
  return reduction == DTC_SUM ? MPI_SUM : MPI_MAX;
}

/// Limits the time of MPI_Init, which waits for mpirun and for all other ranks,
/// and may do so for ever.
class StartWatch {
public:
  explicit StartWatch(int seconds)
      : thread(startWithoutSignals([this, seconds] {
          std::unique_lock lock(mutex);
          if (!started.wait_for(lock, std::chrono::seconds(seconds),
                                [this] { return isStarted; }))
            fatal("MPI has not started for %d s: mpirun hangs, or another rank "
                  "has not started; see why, or raise --timeout",
                  seconds);
        })) {}
  ~StartWatch() {
    {
      std::lock_guard lock(mutex);
      isStarted = true;
    }
    started.notify_all();
    thread.join();
  }

private:
  std::mutex mutex;
  std::condition_variable started;
  bool isStarted = false;
  std::thread thread; // last, since it uses the others
};

class MpiCollectives : public Collectives {
public:
  explicit MpiCollectives(int timeout) {
    StartWatch watch(timeout);
    MPI_Init(nullptr, nullptr);
    control = duplicate(MPI_COMM_WORLD, "dtc.control");
    pipeline = duplicate(MPI_COMM_WORLD, "dtc.pipeline");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(control, &myRank);
    MPI_Comm_size(control, &worldSize);
    MPI_Comm local;
    MPI_Comm_split_type(control, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &local);
    MPI_Comm_size(local, &localRanks);
    MPI_Allreduce(&myRank, &lowestLocal, 1, MPI_INT, MPI_MIN, local);
    MPI_Comm_free(&local);
    for (int slot = 0; slot < numSlots; ++slot)
      slots[slot].reserve(1); // so that steps do not allocate
  }

  int rank() const override { return myRank; }
  int size() const override { return worldSize; }
  int localSize() const override { return localRanks; }
  int machine() const override { return lowestLocal; }

  void createGroups(const Program &program) override {
    const Mesh &mesh = program.mesh;
    for (const std::vector<int> &axes : program.groups) {
      std::string name = "dtc";
      for (int axis : axes)
        name += "." + mesh.axes[axis].name;
      // Members come in the order of their ranks' coordinates.
      std::vector<int> members = mesh.members(axes, myRank);
      MPI_Comm group;
      check(MPI_Comm_split(control, members.front(), mesh.place(axes, myRank),
                           &group),
            "MPI_Comm_split");
      setUp(group, name.c_str());
      groups.push_back(group);
      // A scatter is a reduction for each member, a permutation two messages.
      for (int slot = firstCollectiveSlot; slot < numSlots; ++slot)
        slots[slot].reserve(size_t(std::max(2, sizeOfGroup(group))));
    }
  }

  void run(int group, const Collective &collective) override {
    call(group, collective, nullptr);
  }
  void start(int group, int slot, const Collective &collective) override {
    call(group, collective, &slots.take(slot));
  }

  int groupRank(int group) override { return rankInGroup(groupOf(group)); }
  int groupSize(int group) override { return sizeOfGroup(groupOf(group)); }

  void send(int peer, int tag, int slot, const void *buffer,
            int64_t bytes) override {
    Requests &requests = slots.take(slot);
    transfer(bytes, [&](int count, MPI_Datatype type) {
      check(MPI_Isend(buffer, count, type, peer, tag, pipeline, add(requests)),
            "MPI_Isend");
    });
  }

  void recv(int peer, int tag, int slot, void *buffer, int64_t bytes) override {
    Requests &requests = slots.take(slot);
    transfer(bytes, [&](int count, MPI_Datatype type) {
      check(MPI_Irecv(buffer, count, type, peer, tag, pipeline, add(requests)),
            "MPI_Irecv");
    });
  }

  void wait(int slot) override {
    Requests &requests = slots[slot];
    check(
        MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
    release(slot);
  }

  bool test(int slot) override {
    Requests &requests = slots[slot];
    int isDone = 0;
    check(MPI_Testall(int(requests.size()), requests.data(), &isDone,
                      MPI_STATUSES_IGNORE),
          "MPI_Testall");
    if (isDone)
      release(slot);
    return isDone;
  }

  /// A call of MPI that finds nothing progresses all requests.
  bool poll() override {
    if (!slots.isAnyTaken())
      return false;
    int found;
    check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, control, &found,
                     MPI_STATUS_IGNORE),
          "MPI_Iprobe");
    return true;
  }

  void sendData(int peer, const void *buffer, int64_t bytes) override {
    transfer(bytes, [&](int count, MPI_Datatype type) {
      check(MPI_Send(buffer, count, type, peer, dataTag, control), "MPI_Send");
    });
  }

  void recvData(int peer, void *buffer, int64_t bytes) override {
    transfer(bytes, [&](int count, MPI_Datatype type) {
      check(MPI_Recv(buffer, count, type, peer, dataTag, control,
                     MPI_STATUS_IGNORE),
            "MPI_Recv");
    });
  }

  void sendNotice(int peer, const void *buffer, int64_t bytes) override {
    check(MPI_Send(buffer, int(bytes), MPI_BYTE, peer, noticeTag, control),
          "MPI_Send");
  }

  void recvNotice(const std::vector<int> &, void *buffer,
                  int64_t bytes) override {
    check(MPI_Recv(buffer, int(bytes), MPI_BYTE, MPI_ANY_SOURCE, noticeTag,
                   control, MPI_STATUS_IGNORE),
          "MPI_Recv");
  }

  void gatherData(const void *input, void *output, int64_t bytes) override {
    check(MPI_Allgather(input, int(bytes), MPI_BYTE, output, int(bytes),
                        MPI_BYTE, control),
          "MPI_Allgather");
  }

  int firstFailed(bool failed) override {
    int candidate = failed ? myRank : worldSize, lowest = worldSize;
    check(MPI_Allreduce(&candidate, &lowest, 1, MPI_INT, MPI_MIN, control),
          "MPI_Allreduce");
    return lowest == worldSize ? -1 : lowest;
  }

  void barrier() override { check(MPI_Barrier(control), "MPI_Barrier"); }

  void finish() override { MPI_Finalize(); }

  /// Another thread may be in a call of MPI, where MPI_Abort may hang. So this
  /// does not wait for it long.
  void abort() override {
    std::thread([] { MPI_Abort(MPI_COMM_WORLD, 1); }).detach();
    std::this_thread::sleep_for(std::chrono::seconds(2));
    _Exit(1);
  }

private:
  /// The requests that the wait of a slot completes.
  using Requests = std::vector<MPI_Request>;
  static MPI_Request *add(Requests &requests) {
    return &requests.emplace_back(MPI_REQUEST_NULL);
  }

  /// Runs a collective to its end, or starts it with `requests`.
  void call(int group, const Collective &collective, Requests *requests) {
    MPI_Comm communicator = groupOf(group);
    switch (collective.kind) {
    case CollectiveKind::AllReduce:
      return allReduce(communicator, collective, requests);
    case CollectiveKind::ReduceScatter:
      return reduceScatter(communicator, collective, requests);
    case CollectiveKind::AllGather:
      return allGather(communicator, collective, requests);
    case CollectiveKind::AllToAll:
      return allToAll(communicator, collective, requests);
    case CollectiveKind::CollectivePermute:
      return permute(communicator, collective, requests);
    }
  }

  /// Every algorithm that OpenMPI's `tuned` and `basic` components choose from
  /// reduces an element along one tree and spreads the result, or adds the
  /// same two partial sums on both sides; the choice depends on sizes alone.
  /// So all members get the same bits, in every run (tested with 2 to 8
  /// ranks in unittests/Runtime/CollectivesTest.cpp). The same holds for
  /// `libnbc`, which does what is started, but its bits are not the same.
  static void allReduce(MPI_Comm group, const Collective &own,
                        Requests *requests) {
    MPI_Datatype type = typeOf(own.dtype);
    MPI_Op operation = operationOf(own.dtype, own.reduction);
    for (int64_t done = 0; done < own.count; done += pieceCount) {
      void *piece = static_cast<char *>(own.output) + done * sizeOf(own.dtype);
      int count = int(std::min(own.count - done, pieceCount));
      if (requests)
        check(MPI_Iallreduce(MPI_IN_PLACE, piece, count, type, operation, group,
                             add(*requests)),
              "MPI_Iallreduce");
      else
        check(MPI_Allreduce(MPI_IN_PLACE, piece, count, type, operation, group),
              "MPI_Allreduce");
    }
  }

  /// One reduction for each member. MPI_Reduce_scatter_block of OpenMPI reduces
  /// large inputs on one rank and scatters them from there: that rank needs
  /// memory for two more of them, and it takes two to three times as long.
  static void reduceScatter(MPI_Comm group, const Collective &own,
                            Requests *requests) {
    if (own.count > INT_MAX)
      fatal("reduce_scatter of %lld elements for each rank, MPI takes %d; "
            "split over more ranks",
            (long long)own.count, INT_MAX);
    MPI_Datatype type = typeOf(own.dtype);
    MPI_Op operation = operationOf(own.dtype, own.reduction);
    const char *share = static_cast<const char *>(own.input);
    for (int root = 0; root < sizeOfGroup(group); ++root, share += own.bytes())
      if (requests)
        check(MPI_Ireduce(share, own.output, int(own.count), type, operation,
                          root, group, add(*requests)),
              "MPI_Ireduce");
      else
        check(MPI_Reduce(share, own.output, int(own.count), type, operation,
                         root, group),
              "MPI_Reduce");
  }

  static void allGather(MPI_Comm group, const Collective &own,
                        Requests *requests) {
    transfer(own.bytes(), [&](int count, MPI_Datatype type) {
      if (requests)
        check(MPI_Iallgather(own.input, count, type, own.output, count, type,
                             group, add(*requests)),
              "MPI_Iallgather");
      else
        check(MPI_Allgather(own.input, count, type, own.output, count, type,
                            group),
              "MPI_Allgather");
    });
  }

  static void allToAll(MPI_Comm group, const Collective &own,
                       Requests *requests) {
    transfer(own.bytes(), [&](int count, MPI_Datatype type) {
      if (requests)
        check(MPI_Ialltoall(own.input, count, type, own.output, count, type,
                            group, add(*requests)),
              "MPI_Ialltoall");
      else
        check(MPI_Alltoall(own.input, count, type, own.output, count, type,
                           group),
              "MPI_Alltoall");
    });
  }

  /// Exchanges one message with two members. Messages of several permutations
  /// in flight match in the order of their start.
  static void permute(MPI_Comm group, const Collective &own,
                      Requests *requests) {
    int rank = rankInGroup(group);
    const std::vector<int> &sources = *own.sources;
    int from = sources[size_t(rank)];
    int to =
        int(std::find(sources.begin(), sources.end(), rank) - sources.begin());
    transfer(own.bytes(), [&](int count, MPI_Datatype type) {
      if (requests) {
        check(MPI_Irecv(own.output, count, type, from, /*tag=*/0, group,
                        add(*requests)),
              "MPI_Irecv");
        check(MPI_Isend(own.input, count, type, to, /*tag=*/0, group,
                        add(*requests)),
              "MPI_Isend");
      } else {
        check(MPI_Sendrecv(own.input, count, type, to, /*sendtag=*/0,
                           own.output, count, type, from, /*recvtag=*/0, group,
                           MPI_STATUS_IGNORE),
              "MPI_Sendrecv");
      }
    });
  }

  void release(int slot) {
    slots[slot].clear();
    slots.free(slot);
  }

  MPI_Comm groupOf(int group) {
    if (size_t(group) >= groups.size())
      fatal("collective over group %d of %zu", group, groups.size());
    return groups[group];
  }

  static int rankInGroup(MPI_Comm group) {
    int rank;
    check(MPI_Comm_rank(group, &rank), "MPI_Comm_rank");
    return rank;
  }

  static int sizeOfGroup(MPI_Comm group) {
    int size;
    check(MPI_Comm_size(group, &size), "MPI_Comm_size");
    return size;
  }

  static void setUp(MPI_Comm communicator, const char *name) {
    MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
    MPI_Comm_set_name(communicator, name);
  }

  static MPI_Comm duplicate(MPI_Comm source, const char *name) {
    MPI_Comm communicator;
    check(MPI_Comm_dup(source, &communicator), "MPI_Comm_dup");
    setUp(communicator, name);
    return communicator;
  }

  /// Calls `body` with a count and a type that together are `bytes` bytes.
  template <typename Body> static void transfer(int64_t bytes, Body body) {
    if (bytes <= INT_MAX)
      return body(int(bytes), MPI_BYTE);
    MPI_Datatype piece, whole;
    int lengths[] = {int(bytes / pieceCount), int(bytes % pieceCount)};
    MPI_Aint offsets[] = {0, MPI_Aint(bytes / pieceCount * pieceCount)};
    check(MPI_Type_contiguous(int(pieceCount), MPI_BYTE, &piece),
          "MPI_Type_contiguous");
    MPI_Datatype types[] = {piece, MPI_BYTE};
    check(MPI_Type_create_struct(2, lengths, offsets, types, &whole),
          "MPI_Type_create_struct");
    check(MPI_Type_commit(&whole), "MPI_Type_commit");
    body(1, whole);
    // A type in use by a pending send lives until that is done.
    MPI_Type_free(&whole);
    MPI_Type_free(&piece);
  }

  int myRank = 0, worldSize = 1, localRanks = 1, lowestLocal = 0;
  MPI_Comm control, pipeline;
  std::vector<MPI_Comm> groups;
  Slots<Requests> slots;
};

} // namespace

std::unique_ptr<Collectives> dtc::rt::makeMpiCollectives(int timeout) {
  return std::make_unique<MpiCollectives>(timeout);
}
