//===- Sharing.cpp - systems on which ranks do not share memory -----------===//
//
// DTC_OBSERVE_NO_SHARING=1 takes away the files that memory is shared by.
// DTC_OBSERVE_RANKS_PER_MACHINE=N makes machines of N ranks: rank r is on
// machine r / N.
//
//===----------------------------------------------------------------------===//

#include <cerrno>
#include <cstdlib>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" int memfd_create(const char *name, unsigned flags) noexcept {
  if (getenv("DTC_OBSERVE_NO_SHARING")) {
    errno = ENOSYS;
    return -1;
  }
  return int(syscall(SYS_memfd_create, name, flags));
}

extern "C" int MPI_Comm_split_type(MPI_Comm communicator, int type, int key,
                                   MPI_Info info, MPI_Comm *part) {
  const char *ranks = getenv("DTC_OBSERVE_RANKS_PER_MACHINE");
  if (!ranks || type != MPI_COMM_TYPE_SHARED)
    return PMPI_Comm_split_type(communicator, type, key, info, part);
  int rank;
  PMPI_Comm_rank(communicator, &rank);
  return PMPI_Comm_split(communicator, rank / int(strtol(ranks, nullptr, 10)),
                         key, part);
}
