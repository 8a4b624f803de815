//===- Rendezvous.cpp - how ranks learn of each other ---------------------===//

#include "Rendezvous.h"

#include "Core/Error.h"
#include "TcpExchange.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
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

/// Written beside and renamed: whoever sees it sees all of it.
static void writeWhole(const std::string &path, const void *bytes,
                       size_t size) {
  std::string beside = path + format(".%d", int(getpid()));
  int file = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                  S_IRUSR | S_IWUSR);
  bool isWritten = file >= 0 && write(file, bytes, size) == ssize_t(size);
  if (file >= 0)
    isWritten &= close(file) == 0;
  if (!isWritten || rename(beside.c_str(), path.c_str()) != 0) {
    int error = errno;
    unlink(beside.c_str());
    fail("cannot write '%s', by which ranks find each other: %s", path.c_str(),
         strerror(error));
  }
}

static void readWhole(const std::string &path, int timeout, void *bytes,
                      size_t size) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point end = Clock::now() + std::chrono::seconds(timeout);
  while (Clock::now() < end) {
    int file = open(path.c_str(), O_RDONLY | O_NOFOLLOW);
    if (file >= 0) {
      ssize_t got = read(file, bytes, size);
      close(file);
      if (got == ssize_t(size))
        return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  fail("rank 0 has not written '%s' for %d s, expected it there; see whether "
       "all ranks see that folder, or give it longer with --timeout",
       path.c_str(), timeout);
}

/// What jobs on one machine differ in; empty if the launcher does not say.
static std::string jobName(const Environment &environment) {
  auto read = [](const char *name) {
    const char *text = getenv(name);
    return std::string(text ? text : "");
  };
  switch (environment.launcher) {
  case Launcher::openMpi:
    return read("PMIX_NAMESPACE") + read("OMPI_MCA_ess_base_jobid");
  case Launcher::torchrun:
    return read("TORCHELASTIC_RUN_ID") + "." + read("MASTER_PORT") + "." +
           read("TORCHELASTIC_RESTART_COUNT");
  case Launcher::slurm:
    return read("SLURM_JOB_ID") + "." + read("SLURM_STEP_ID");
  case Launcher::none:
    return {};
  }
  return {};
}

//===----------------------------------------------------------------------===//
// MPI
//===----------------------------------------------------------------------===//

namespace {

/// What is needed of OpenMPI, which the program is not linked with. Its handles
/// are addresses of objects of the library.
struct OpenMpi {
  int (*init)(int *, char ***);
  int (*broadcast)(void *, int, void *, int, void *);
  void *world, *byte;

  bool open() {
    void *library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);
    if (!library)
      return false;
    init = reinterpret_cast<decltype(init)>(dlsym(library, "MPI_Init"));
    broadcast =
        reinterpret_cast<decltype(broadcast)>(dlsym(library, "MPI_Bcast"));
    world = dlsym(library, "ompi_mpi_comm_world");
    byte = dlsym(library, "ompi_mpi_byte");
    return init && broadcast && world && byte;
  }
};

} // namespace

/// Whether MPI did it. It stays up until the process ends: its launcher waits
/// for all ranks to leave it.
static bool shareByMpi(void *bytes, size_t size) {
  OpenMpi mpi;
  if (!mpi.open())
    return false;
  if (mpi.init(nullptr, nullptr) != 0 ||
      mpi.broadcast(bytes, int(size), mpi.byte, 0, mpi.world) != 0)
    fail("MPI does not start, by which ranks find each other; name a file that "
         "all of them see with --rendezvous FILE instead");
  return true;
}

//===----------------------------------------------------------------------===//

/// In the memory of the machine, by a name that other jobs do not have.
static std::string chooseFile(const Environment &environment) {
  std::string job = jobName(environment);
  if (environment.localSize < environment.size || job.empty())
    fail("found %d ranks on several machines, expected MASTER_ADDR and "
         "MASTER_PORT in the environment, or --rendezvous FILE, a file that "
         "all of them see and that is not there yet",
         environment.size);
  if (environment.launcher == Launcher::torchrun)
    job += "." + std::to_string(getppid());
  for (char &c : job)
    if (c == '/')
      c = '-';
  return format("/dev/shm/dtc-%d-%s", int(getuid()), job.c_str());
}

Rendezvous::Rendezvous(const Environment &environment, const std::string &file,
                       int timeout, void *bytes, size_t size) {
  if (file.empty() && environment.launcher == Launcher::openMpi &&
      environment.localSize < environment.size) {
    if (shareByMpi(bytes, size))
      return;
    fail("found no libmpi.so.40, by which ranks of several machines find each "
         "other; name a file that all of them see with --rendezvous FILE");
  }
  if (file.empty() && environment.localSize < environment.size)
    if (std::optional<MasterAddress> master = MasterAddress::get()) {
      exchangeByTcp(environment, *master, jobName(environment), timeout, bytes,
                    size);
      return;
    }
  std::string common = file.empty() ? chooseFile(environment) : file;
  if (environment.rank != 0) {
    readWhole(common, timeout, bytes, size);
    return;
  }
  if (!file.empty() && access(file.c_str(), F_OK) == 0)
    fail("--rendezvous: '%s' is there already, expected a new name for each "
         "job",
         file.c_str());
  writeWhole(common, bytes, size);
  path = common;
}

Rendezvous::~Rendezvous() {
  if (!path.empty())
    unlink(path.c_str());
}
