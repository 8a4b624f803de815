//===- Communication.cpp - counts MPI's calls per communicator ------------===//
//
// Comes before MPI's own functions, which stay reachable as PMPI_*. Every call
// that the collectives and messages of a step could be made of is here.
//
//===----------------------------------------------------------------------===//

#include "Observer.h"

#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <mpi.h>

using namespace dtc::observer;

namespace {

struct Traffic {
  const char *call;
  MPI_Comm communicator;
  int peer; ///< of a message; -1 for a collective
  int members;
  int64_t count, bytes;
  char name[MPI_MAX_OBJECT_NAME]; ///< of the communicator
};

} // namespace

static constexpr int collective = -1;

/// The size is fixed, because steps that must not allocate write it.
static Traffic table[256];
static int used;

/// If the data are divided, `elements` is the part of one member.
static void count(const char *call, MPI_Comm communicator, int peer,
                  int elements, MPI_Datatype type, bool isDivided = false) {
  if (!inStep())
    return;
  int size;
  PMPI_Type_size(type, &size);
  int members;
  PMPI_Comm_size(communicator, &members);
  Traffic *entry = table;
  while (entry != table + used &&
         (entry->call != call || entry->communicator != communicator ||
          entry->peer != peer))
    ++entry;
  if (entry == table + used) {
    if (used == sizeof table / sizeof *table) {
      fputs("dtc-observer: error: too many kinds of calls\n", stderr);
      abort();
    }
    ++used;
    *entry = {call, communicator, peer, members, 0, 0, ""};
    // MPI is over when the record is written.
    int length;
    PMPI_Comm_get_name(communicator, entry->name, &length);
  }
  ++entry->count;
  entry->bytes += int64_t(elements) * size * (isDivided ? members : 1);
}

void dtc::observer::writeCommunication(FILE *file) {
  fprintf(file, "[");
  for (int i = 0; i < used; ++i)
    fprintf(file,
            "%s{\"communicator\": \"%s\", \"members\": %d, \"call\": \"%s\", "
            "\"peer\": %d, \"count\": %" PRId64 ", \"bytes\": %" PRId64 "}",
            i ? ", " : "", table[i].name, table[i].members, table[i].call,
            table[i].peer, table[i].count, table[i].bytes);
  fprintf(file, "]");
}

/// A bug to be found: DTC_OBSERVE_SKIP=NAME:ELEMENTS leaves out all-reduces of
/// this many elements on communicators of this name.
static bool isSkipped(MPI_Comm communicator, int elements) {
  static const char *skipped = getenv("DTC_OBSERVE_SKIP");
  const char *colon = skipped ? strchr(skipped, ':') : nullptr;
  if (!colon || !inStep() || elements != strtol(colon + 1, nullptr, 10))
    return false;
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  PMPI_Comm_get_name(communicator, name, &length);
  return length == colon - skipped && !strncmp(name, skipped, size_t(length));
}

/// Whether messages on it go from stage to stage.
static bool isOfPipeline(MPI_Comm communicator) {
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  PMPI_Comm_get_name(communicator, name, &length);
  return !strcmp(name, "dtc.pipeline");
}

extern "C" {

int MPI_Allreduce(const void *in, void *out, int number, MPI_Datatype type,
                  MPI_Op operation, MPI_Comm communicator) {
  count("MPI_Allreduce", communicator, collective, number, type);
  if (isSkipped(communicator, number))
    return MPI_SUCCESS;
  return PMPI_Allreduce(in, out, number, type, operation, communicator);
}

int MPI_Iallreduce(const void *in, void *out, int number, MPI_Datatype type,
                   MPI_Op operation, MPI_Comm communicator,
                   MPI_Request *request) {
  count("MPI_Allreduce", communicator, collective, number, type);
  if (isSkipped(communicator, number)) {
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  return PMPI_Iallreduce(in, out, number, type, operation, communicator,
                         request);
}

int MPI_Reduce(const void *in, void *out, int number, MPI_Datatype type,
               MPI_Op operation, int root, MPI_Comm communicator) {
  count("MPI_Reduce", communicator, collective, number, type);
  return PMPI_Reduce(in, out, number, type, operation, root, communicator);
}

int MPI_Ireduce(const void *in, void *out, int number, MPI_Datatype type,
                MPI_Op operation, int root, MPI_Comm communicator,
                MPI_Request *request) {
  count("MPI_Reduce", communicator, collective, number, type);
  return PMPI_Ireduce(in, out, number, type, operation, root, communicator,
                      request);
}

int MPI_Reduce_scatter_block(const void *in, void *out, int number,
                             MPI_Datatype type, MPI_Op operation,
                             MPI_Comm communicator) {
  count("MPI_Reduce_scatter_block", communicator, collective, number, type,
        /*isDivided=*/true);
  return PMPI_Reduce_scatter_block(in, out, number, type, operation,
                                   communicator);
}

int MPI_Allgather(const void *in, int number, MPI_Datatype type, void *out,
                  int outNumber, MPI_Datatype outType, MPI_Comm communicator) {
  count("MPI_Allgather", communicator, collective, outNumber, outType,
        /*isDivided=*/true);
  return PMPI_Allgather(in, number, type, out, outNumber, outType,
                        communicator);
}

int MPI_Iallgather(const void *in, int number, MPI_Datatype type, void *out,
                   int outNumber, MPI_Datatype outType, MPI_Comm communicator,
                   MPI_Request *request) {
  count("MPI_Allgather", communicator, collective, outNumber, outType,
        /*isDivided=*/true);
  return PMPI_Iallgather(in, number, type, out, outNumber, outType,
                         communicator, request);
}

int MPI_Alltoall(const void *in, int number, MPI_Datatype type, void *out,
                 int outNumber, MPI_Datatype outType, MPI_Comm communicator) {
  count("MPI_Alltoall", communicator, collective, number, type,
        /*isDivided=*/true);
  return PMPI_Alltoall(in, number, type, out, outNumber, outType, communicator);
}

int MPI_Ialltoall(const void *in, int number, MPI_Datatype type, void *out,
                  int outNumber, MPI_Datatype outType, MPI_Comm communicator,
                  MPI_Request *request) {
  count("MPI_Alltoall", communicator, collective, number, type,
        /*isDivided=*/true);
  return PMPI_Ialltoall(in, number, type, out, outNumber, outType, communicator,
                        request);
}

int MPI_Sendrecv(const void *in, int number, MPI_Datatype type, int to,
                 int sendTag, void *out, int outNumber, MPI_Datatype outType,
                 int from, int receiveTag, MPI_Comm communicator,
                 MPI_Status *status) {
  count("MPI_Sendrecv", communicator, collective, number, type);
  return PMPI_Sendrecv(in, number, type, to, sendTag, out, outNumber, outType,
                       from, receiveTag, communicator, status);
}

int MPI_Bcast(void *buffer, int number, MPI_Datatype type, int root,
              MPI_Comm communicator) {
  count("MPI_Bcast", communicator, collective, number, type);
  return PMPI_Bcast(buffer, number, type, root, communicator);
}

int MPI_Barrier(MPI_Comm communicator) {
  count("MPI_Barrier", communicator, collective, 0, MPI_BYTE);
  return PMPI_Barrier(communicator);
}

int MPI_Send(const void *buffer, int number, MPI_Datatype type, int peer,
             int tag, MPI_Comm communicator) {
  count("MPI_Send", communicator, peer, number, type);
  return PMPI_Send(buffer, number, type, peer, tag, communicator);
}

int MPI_Isend(const void *buffer, int number, MPI_Datatype type, int peer,
              int tag, MPI_Comm communicator, MPI_Request *request) {
  if (isOfPipeline(communicator))
    count("MPI_Isend", communicator, peer, number, type);
  else // a permutation that is started
    count("MPI_Sendrecv", communicator, collective, number, type);
  return PMPI_Isend(buffer, number, type, peer, tag, communicator, request);
}

int MPI_Recv(void *buffer, int number, MPI_Datatype type, int peer, int tag,
             MPI_Comm communicator, MPI_Status *status) {
  count("MPI_Recv", communicator, peer, number, type);
  return PMPI_Recv(buffer, number, type, peer, tag, communicator, status);
}

int MPI_Irecv(void *buffer, int number, MPI_Datatype type, int peer, int tag,
              MPI_Comm communicator, MPI_Request *request) {
  if (isOfPipeline(communicator)) // else its MPI_Isend is counted
    count("MPI_Irecv", communicator, peer, number, type);
  return PMPI_Irecv(buffer, number, type, peer, tag, communicator, request);
}

} // extern "C"
