//===- Rendezvous.cpp - exchange of addresses between ranks ---------------===//

#include "Rendezvous.h"

#include "Core/Error.h"
#include "System/WriteFile.h"
#include "TcpExchange.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace dtc::rt;

//===----------------------------------------------------------------------===//
// A file
//===----------------------------------------------------------------------===//

/// Writes a file as a whole, because other ranks wait for its name.
static void writeWhole(const std::string &path, const void *bytes,
                       size_t size) {
  if (!replaceFile(path, {static_cast<const char *>(bytes), size},
                   S_IRUSR | S_IWUSR))
    fail("cannot write '%s', which ranks need to find each other: %s",
         path.c_str(), strerror(errno));
}

namespace {

using Clock = std::chrono::steady_clock;

/// A header before the bytes of a rank. It distinguishes them from bytes of a
/// process that ended before it removed its file.
struct Author {
  int64_t process = getpid();
  int64_t start = Clock::now().time_since_epoch().count();

  bool operator==(const Author &) const = default;
  bool isAlive() const {
    return kill(pid_t(process), 0) == 0 || errno != ESRCH;
  }
};

/// Removes the file in the destructor.
struct TemporaryFile {
  std::string path;
  ~TemporaryFile() { unlink(path.c_str()); }
};

} // namespace

/// Reads a file again and again until `isRight` accepts it.
template <typename IsRight>
static void readWhole(const std::string &path, int writer,
                      Clock::time_point end, int timeout,
                      std::vector<char> &bytes, IsRight isRight) {
  while (Clock::now() < end) {
    int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW);
    if (file >= 0) {
      ssize_t got = read(file, bytes.data(), bytes.size());
      close(file);
      if (got == ssize_t(bytes.size()) && isRight())
        return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  fail("rank %d has not written '%s' for %d s, expected it there; see whether "
       "all ranks run and see that folder, or raise --timeout",
       writer, path.c_str(), timeout);
}

/// Each rank writes a file. Rank 0 reads all of them, and writes one file with
/// all bytes. A rank that has read that file removes its own, and rank 0
/// removes the common file last.
void Rendezvous::meetByFiles(const Environment &environment, int timeout,
                             const std::vector<char> &own, bool isOneMachine) {
  Clock::time_point end = Clock::now() + std::chrono::seconds(timeout);
  Author author;
  size_t entryBytes = sizeof author + own.size();
  std::vector<char> entry(entryBytes);
  std::vector<char> all(entryBytes * size_t(environment.size));
  memcpy(entry.data(), &author, sizeof author);
  memcpy(entry.data() + sizeof author, own.data(), own.size());
  auto nameOf = [&](int rank) { return path + "." + std::to_string(rank); };
  if (environment.rank != 0) {
    TemporaryFile mine{nameOf(environment.rank)};
    writeWhole(mine.path, entry.data(), entry.size());
    const char *place = all.data() + entryBytes * size_t(environment.rank);
    readWhole(path, 0, end, timeout, all,
              [&] { return !memcmp(place, &author, sizeof author); });
    path.clear(); // rank 0 removes it
  } else {
    memcpy(all.data(), entry.data(), entryBytes);
    for (int rank = 1; rank < environment.size; ++rank) {
      readWhole(nameOf(rank), rank, end, timeout, entry, [&] {
        memcpy(&author, entry.data(), sizeof author);
        return !isOneMachine || author.isAlive();
      });
      memcpy(all.data() + entryBytes * size_t(rank), entry.data(), entryBytes);
    }
    writeWhole(path, all.data(), all.size());
    for (int rank = 1; rank < environment.size; ++rank)
      while (access(nameOf(rank).c_str(), F_OK) == 0 && Clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (int rank = 0; rank < environment.size; ++rank) {
    const char *place = all.data() + entryBytes * size_t(rank) + sizeof author;
    bytes.insert(bytes.end(), place, place + own.size());
  }
}

//===----------------------------------------------------------------------===//
// MPI
//===----------------------------------------------------------------------===//

namespace {

/// The functions of OpenMPI, which the program is not linked with. Its handles
/// are addresses of objects of the library.
struct OpenMpi {
  int (*init)(int *, char ***);
  int (*allGather)(const void *, int, void *, void *, int, void *, void *);
  void *world, *byte;

  bool open() {
    void *library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
    if (!library)
      return false;
    init = reinterpret_cast<decltype(init)>(dlsym(library, "MPI_Init"));
    allGather =
        reinterpret_cast<decltype(allGather)>(dlsym(library, "MPI_Allgather"));
    world = dlsym(library, "ompi_mpi_comm_world");
    byte = dlsym(library, "ompi_mpi_byte");
    return init && allGather && world && byte;
  }
};

} // namespace

/// Gathers the bytes by MPI; returns whether MPI is there. MPI is not finalized
/// before the process ends, because its launcher waits for all ranks.
static bool shareByMpi(const std::vector<char> &own, std::vector<char> &all) {
  OpenMpi mpi;
  if (!mpi.open())
    return false;
  int count = int(own.size());
  if (mpi.init(nullptr, nullptr) != 0 ||
      mpi.allGather(own.data(), count, mpi.byte, all.data(), count, mpi.byte,
                    mpi.world) != 0)
    fail("MPI does not start, which ranks need to find each other; name a file "
         "that all of them see with --rendezvous FILE instead");
  return true;
}

//===----------------------------------------------------------------------===//

/// A file in /dev/shm, with a name that differs between jobs.
static std::string chooseFile(const Environment &environment) {
  std::string job = jobName(environment);
  if (environment.localSize < environment.size || job.empty())
    fail("found no way for %d ranks to find each other, expected MASTER_ADDR "
         "and "
         "MASTER_PORT in the environment, or --rendezvous FILE, a file that "
         "all of them see and that is not there yet",
         environment.size);
  // Ranks below a wrapper have other parents.
  if (environment.launcher == Launcher::torchrun && !hasMasterPort())
    job += "." + std::to_string(getppid());
  for (char &c : job)
    if (c == '/')
      c = '-';
  return format("/dev/shm/dtc-%d-%s", int(getuid()), job.c_str());
}

Rendezvous::Rendezvous(const Environment &environment, const std::string &file,
                       int timeout, const std::vector<char> &own) {
  bool isOneMachine = environment.localSize == environment.size;
  // A launcher may not say which job it is.
  if (file.empty() && (!isOneMachine || jobName(environment).empty())) {
    if (environment.launcher == Launcher::openMpi && !isOneMachine) {
      bytes.resize(own.size() * size_t(environment.size));
      if (shareByMpi(own, bytes))
        return;
      fail(
          "found no libmpi.so.40, which ranks of several machines need to find "
          "each other; name a file that all of them see with --rendezvous "
          "FILE");
    }
    if (std::optional<MasterAddress> master = MasterAddress::get()) {
      bytes = exchangeByTcp(environment, *master, jobName(environment), timeout,
                            own);
      return;
    }
  }
  path = file.empty() ? chooseFile(environment) : file;
  if (environment.rank == 0 && !file.empty() && access(file.c_str(), F_OK) == 0)
    fail("--rendezvous: '%s' is there already, expected a new name for each "
         "job",
         file.c_str());
  meetByFiles(environment, timeout, own, isOneMachine);
}

Rendezvous::~Rendezvous() {
  if (!path.empty())
    unlink(path.c_str());
}
