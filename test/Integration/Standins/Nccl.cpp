//===- Nccl.cpp - a stand-in of NCCL --------------------------------------===//
//
// Ranks of one machine exchange data by files in memory. The members of a
// communicator must call its operations in one order: each operation's number,
// kind, type and size are compared. A send is done when it has been received,
// as on GPUs, so that programs that rely on buffers hang here, too.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Values.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <nccl.h>
#include <optional>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace dtc::standin;

namespace {

/// A file that appears whole, or not at all.
class Box {
public:
  explicit Box(std::string path) : path(std::move(path)) {}

  void put(const std::vector<char> &bytes) const {
    std::string beside = path + "~";
    FILE *file = fopen(beside.c_str(), "wb");
    if (!file || fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size() ||
        fclose(file) != 0 || rename(beside.c_str(), path.c_str()) != 0)
      fault("cannot write '%s'", path.c_str());
  }
  bool exists() const { return access(path.c_str(), F_OK) == 0; }
  bool get(std::vector<char> &bytes) const {
    FILE *file = fopen(path.c_str(), "rb");
    if (!file)
      return false;
    struct stat status;
    fstat(fileno(file), &status);
    bytes.resize(size_t(status.st_size));
    if (fread(bytes.data(), 1, bytes.size(), file) != bytes.size())
      fault("cannot read '%s'", path.c_str());
    fclose(file);
    return true;
  }
  void remove() const { unlink(path.c_str()); }
  const std::string &place() const { return path; }

private:
  std::string path;
};

/// The values that members must agree on.
struct Header {
  char kind[24];
  int32_t type, op;
  uint64_t count;

  std::string describe() const {
    return std::string(kind) + " of " + std::to_string(count) +
           " elements of type " + std::to_string(type);
  }
};

} // namespace

/// The folder of boxes: in memory, unless DTC_STANDIN_FOLDER names another.
static std::string folder() {
  const char *own = getenv("DTC_STANDIN_FOLDER");
  return own ? std::string(own) + "/" : "/dev/shm/";
}

struct ncclComm {
  ncclComm(std::string name, int rank, int size)
      : name(std::move(name)), rank(rank), size(size), sent(size_t(size)),
        received(size_t(size)) {}

  std::string name;
  int rank, size;
  uint64_t operations = 0, splits = 0;
  std::vector<uint64_t> sent, received; ///< by peer
  /// Then all operations are done at once, with whatever is there.
  std::atomic<bool> isAborted = false;
  /// Operations share it, those of graphs too.
  std::shared_ptr<int> users = std::make_shared<int>();
  int lifeFile = -1; ///< locked as long as the process lives

  Box box(const std::string &what, uint64_t number, int member) const {
    return Box(folder() + name + "-" + what + std::to_string(number) + "-" +
               std::to_string(member));
  }

  /// Removes a member's boxes, or those of all, but none of a communicator that
  /// was split from this one.
  void clear(std::optional<int> member) const {
    std::string prefix = folder() + name + "-";
    std::string suffix = member ? "-" + std::to_string(*member) : "";
    std::error_code ignored;
    for (const auto &entry : std::filesystem::directory_iterator(
             std::filesystem::path(prefix).parent_path(), ignored)) {
      const std::string path = entry.path().string();
      if (path.rfind(prefix, 0) != 0)
        continue;
      size_t dash = path.find('-', prefix.size());
      if (dash != std::string::npos &&
          path.find('-', dash + 1) == std::string::npos &&
          (!member || path.substr(dash) == suffix))
        std::filesystem::remove(entry.path(), ignored);
    }
  }

  void showLife() {
    lifeFile = open(box("life", 0, rank).place().c_str(), O_CREAT | O_RDWR,
                    S_IRUSR | S_IWUSR);
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    if (fcntl(lifeFile, F_SETLK, &lock) != 0)
      fault("cannot lock a file of '%s'", name.c_str());
  }
  /// Whether a member's process has ended without leaving in good order.
  bool isDead(int member) const {
    int file = open(box("life", 0, member).place().c_str(), O_RDONLY);
    if (file < 0)
      return false;
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    bool isUnlocked =
        fcntl(file, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
    close(file);
    return isUnlocked;
  }
};

namespace {

cudaDataType_t toCuda(ncclDataType_t type) {
  switch (type) {
  case ncclFloat32:
    return CUDA_R_32F;
  case ncclFloat64:
    return CUDA_R_64F;
  case ncclBfloat16:
    return CUDA_R_16BF;
  case ncclFloat16:
    return CUDA_R_16F;
  default:
    fault("a reduction of NCCL's element type %d", type);
  }
}

uint64_t bytesOf(ncclDataType_t type) {
  switch (type) {
  case ncclInt8:
  case ncclUint8:
    return 1;
  case ncclFloat16:
  case ncclBfloat16:
    return 2;
  case ncclInt32:
  case ncclUint32:
  case ncclFloat32:
    return 4;
  default:
    return 8;
  }
}

/// An operation that all members do: shows its data, waits for theirs, and
/// computes.
class Collective {
public:
  using Compute =
      std::function<void(const std::vector<std::vector<char>> &data)>;

  Collective(ncclComm *comm, const Header &header, const void *data,
             uint64_t bytes, Compute compute)
      : comm(comm), user(comm->users), header(header), data(data), bytes(bytes),
        compute(std::move(compute)) {}

  bool tryRun() {
    if (comm->isAborted)
      return true;
    if (!isShown) {
      number = comm->operations++;
      std::vector<char> own(sizeof header + bytes);
      memcpy(own.data(), &header, sizeof header);
      memcpy(own.data() + sizeof header, data, bytes);
      comm->box("op", number, comm->rank).put(own);
      // A member that shows this one has read the one before the last.
      if (number >= 2)
        comm->box("op", number - 2, comm->rank).remove();
      isShown = true;
    }
    for (int member = 0; member < comm->size; ++member)
      if (!comm->box("op", number, member).exists())
        return false;
    std::vector<std::vector<char>> all(size_t(comm->size));
    for (int member = 0; member < comm->size; ++member) {
      std::vector<char> &theirs = all[size_t(member)];
      comm->box("op", number, member).get(theirs);
      Header other;
      memcpy(&other, theirs.data(), sizeof other);
      if (memcmp(&other, &header, sizeof other) != 0)
        fault("operation %llu of communicator %s is %s on member %d, but %s on "
              "member %d",
              (unsigned long long)number, comm->name.c_str(),
              header.describe().c_str(), comm->rank, other.describe().c_str(),
              member);
      theirs.erase(theirs.begin(), theirs.begin() + sizeof other);
    }
    compute(all);
    isShown = false; // a graph does it again
    return true;
  }

private:
  ncclComm *comm;
  std::shared_ptr<int> user;
  Header header;
  const void *data;
  uint64_t bytes, number = 0;
  Compute compute;
  bool isShown = false;
};

int streamOf(cudaStream_t stream) {
  return int(reinterpret_cast<intptr_t>(stream));
}

Header makeHeader(const char *kind, ncclDataType_t type, int op,
                  uint64_t count) {
  Header header;
  memset(&header, 0, sizeof header);
  strncpy(header.kind, kind, sizeof header.kind - 1);
  header.type = type;
  header.op = op;
  header.count = count;
  return header;
}

/// Elements of all members, combined.
void reduce(ncclDataType_t type, ncclRedOp_t op,
            const std::vector<std::vector<char>> &data, uint64_t first,
            uint64_t count, void *output) {
  cudaDataType_t element = toCuda(type);
  uint64_t size = sizeOf(element);
  for (uint64_t i = 0; i < count; ++i) {
    double sum = loadValue(element, data[0].data() + (first + i) * size);
    for (size_t member = 1; member < data.size(); ++member) {
      double x = loadValue(element, data[member].data() + (first + i) * size);
      sum = op == ncclSum ? sum + x : x != x || x > sum ? x : sum;
    }
    storeValue(element, static_cast<char *>(output) + i * size, sum);
  }
}

/// Operations of a group: parts that are done together.
struct Part {
  std::vector<Access> accesses;
  std::function<bool()> tryRun;
};
int groupDepth = 0;
std::vector<Part> group;
cudaStream_t groupStream;

void enqueue(const char *name, std::vector<Access> accesses,
             std::function<bool()> tryRun, cudaStream_t stream) {
  if (groupDepth) {
    group.push_back({std::move(accesses), std::move(tryRun)});
    groupStream = stream;
    return;
  }
  static std::function<void()> late;
  auto put = [=] {
    Machine::get().add(streamOf(stream), name, accesses, tryRun);
  };
  if (Machine::get().hasBug("exchange")) {
    late = put;
    return;
  }
  put();
  if (late)
    std::exchange(late, nullptr)();
}

void enqueueCollective(const char *kind, ncclDataType_t type, int op,
                       uint64_t count, const void *input, uint64_t inputBytes,
                       void *output, uint64_t outputBytes, ncclComm_t comm,
                       cudaStream_t stream, Collective::Compute compute) {
  auto collective =
      std::make_shared<Collective>(comm, makeHeader(kind, type, op, count),
                                   input, inputBytes, std::move(compute));
  enqueue(
      kind, {{input, inputBytes, false}, {output, outputBytes, true}},
      [collective] { return collective->tryRun(); }, stream);
}

/// Waits until all members have come to this point, or for some seconds.
void meet(ncclComm *comm, const char *point,
          int turns = std::numeric_limits<int>::max()) {
  comm->box(point, 0, comm->rank).put({});
  for (int member = 0; member < comm->size; ++member)
    for (; !comm->box(point, 0, member).exists() && turns > 0; --turns)
      usleep(100);
}

} // namespace

extern "C" {

const char *ncclGetErrorString(ncclResult_t) { return "stand-in"; }
const char *ncclGetLastError(ncclComm_t) { return "stand-in"; }

ncclResult_t ncclGetVersion(int *version) {
  *version = 22809;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  std::random_device random;
  snprintf(id->internal, sizeof id->internal, "dtc-standin-%d-%08x",
           int(getpid()), random());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int size, ncclUniqueId id,
                              int rank) {
  *comm = new ncclComm(id.internal, rank, size);
  (*comm)->showLife();
  meet(*comm, "born");
  return ncclSuccess;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key,
                           ncclComm_t *newComm, ncclConfig_t *) {
  // Members by key, then by rank.
  uint64_t number = comm->splits++;
  std::vector<char> own(sizeof(int) * 2);
  memcpy(own.data(), &color, sizeof color);
  memcpy(own.data() + sizeof color, &key, sizeof key);
  comm->box("split", number, comm->rank).put(own);
  std::vector<std::pair<int, int>> members;
  for (int member = 0; member < comm->size; ++member) {
    std::vector<char> theirs;
    while (!comm->box("split", number, member).get(theirs))
      usleep(100);
    int values[2];
    memcpy(values, theirs.data(), sizeof values);
    if (values[0] == color)
      members.push_back({values[1], member});
  }
  std::sort(members.begin(), members.end());
  auto *made = new ncclComm(comm->name + "-s" + std::to_string(number) + "c" +
                                std::to_string(color),
                            0, int(members.size()));
  while (members[size_t(made->rank)].second != comm->rank)
    ++made->rank;
  *newComm = made;
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t) { return ncclSuccess; }

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (comm->users.use_count() > 1)
    fault("a communicator is destroyed while a graph has operations of it");
  // Others may still read what is shown, and then whether this one has read.
  meet(comm, "read", 20000);
  if (comm->rank != 0) {
    comm->box("left", 0, comm->rank).put({});
  } else {
    meet(comm, "left", 20000);
    comm->clear(std::nullopt);
  }
  if (comm->lifeFile >= 0)
    close(comm->lifeFile);
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  comm->isAborted = true;
  usleep(10000); // lets another thread finish its call
  comm->clear(comm->rank);
  // Waits for the destruction of graphs, like NCCL.
  while (comm->users.use_count() > 1)
    usleep(1000);
  return ncclSuccess;
}

/// NCCL does not notice every death: this one does if it is asked to.
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error) {
  *error = ncclSuccess;
  if (getenv("DTC_STANDIN_NOTICES") && comm->lifeFile >= 0)
    for (int member = 0; member < comm->size; ++member)
      if (member != comm->rank && comm->isDead(member))
        *error = ncclRemoteError;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++groupDepth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (--groupDepth)
    return ncclSuccess;
  std::vector<Access> accesses;
  for (const Part &part : group)
    accesses.insert(accesses.end(), part.accesses.begin(), part.accesses.end());
  auto parts = std::make_shared<std::vector<Part>>(std::move(group));
  auto isDone = std::make_shared<std::vector<char>>(parts->size());
  group.clear();
  Machine::get().add(streamOf(groupStream), "group", accesses, [parts, isDone] {
    bool all = true;
    for (size_t i = 0; i < parts->size(); ++i) {
      if (!(*isDone)[i])
        (*isDone)[i] = (*parts)[i].tryRun();
      all &= (*isDone)[i] != 0;
    }
    if (all)
      isDone->assign(parts->size(), 0);
    return all;
  });
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void *input, void *output, size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  uint64_t bytes = count * bytesOf(type);
  enqueueCollective(
      "all_reduce", type, op, count, input, bytes, output, bytes, comm, stream,
      [=](const auto &data) { reduce(type, op, data, 0, count, output); });
  return ncclSuccess;
}

ncclResult_t ncclReduceScatter(const void *input, void *output, size_t count,
                               ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream) {
  uint64_t bytes = count * bytesOf(type);
  enqueueCollective(
      "reduce_scatter", type, op, count, input, bytes * uint64_t(comm->size),
      output, bytes, comm, stream, [=](const auto &data) {
        reduce(type, op, data, uint64_t(comm->rank) * count, count, output);
      });
  return ncclSuccess;
}

ncclResult_t ncclAllGather(const void *input, void *output, size_t count,
                           ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream) {
  uint64_t bytes = count * bytesOf(type);
  enqueueCollective("all_gather", type, -1, count, input, bytes, output,
                    bytes * uint64_t(comm->size), comm, stream,
                    [=](const auto &data) {
                      for (size_t member = 0; member < data.size(); ++member)
                        memcpy(static_cast<char *>(output) + member * bytes,
                               data[member].data(), bytes);
                    });
  return ncclSuccess;
}

ncclResult_t ncclSend(const void *input, size_t count, ncclDataType_t type,
                      int peer, ncclComm_t comm, cudaStream_t stream) {
  uint64_t bytes = count * bytesOf(type);
  auto number = std::make_shared<int64_t>(-1);
  enqueue(
      "send", {{input, bytes, false}},
      [=, user = comm->users] {
        std::string what = "p2p" + std::to_string(peer) + "n";
        if (comm->isAborted)
          return true;
        if (*number < 0) {
          *number = int64_t(comm->sent[size_t(peer)]++);
          const char *data = static_cast<const char *>(input);
          comm->box(what, uint64_t(*number), comm->rank)
              .put({data, data + bytes});
        }
        if (comm->box(what, uint64_t(*number), comm->rank).exists())
          return false;
        *number = -1;
        return true;
      },
      stream);
  return ncclSuccess;
}

ncclResult_t ncclRecv(void *output, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  uint64_t bytes = count * bytesOf(type);
  enqueue(
      "recv", {{output, bytes, true}},
      [=, user = comm->users] {
        std::string what = "p2p" + std::to_string(comm->rank) + "n";
        if (comm->isAborted)
          return true;
        Box box = comm->box(what, comm->received[size_t(peer)], peer);
        std::vector<char> data;
        if (!box.get(data))
          return false;
        if (data.size() != bytes)
          fault("member %d receives %llu bytes from member %d, which sends "
                "%zu",
                comm->rank, (unsigned long long)bytes, peer, data.size());
        memcpy(output, data.data(), bytes);
        ++comm->received[size_t(peer)];
        box.remove();
        return true;
      },
      stream);
  return ncclSuccess;
}

} // extern "C"
