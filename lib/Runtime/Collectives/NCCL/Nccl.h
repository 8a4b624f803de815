//===- Nccl.h - the functions of NCCL ---------------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_NCCL_NCCL_H
#define DTC_LIB_RUNTIME_COLLECTIVES_NCCL_NCCL_H

#include <nccl.h>

namespace dtc::rt {

#define DTC_NCCL_FUNCTIONS(X)                                                  \
  X(ncclGetErrorString)                                                        \
  X(ncclGetLastError)                                                          \
  X(ncclGetUniqueId)                                                           \
  X(ncclGetVersion)                                                            \
  X(ncclCommInitRank)                                                          \
  X(ncclCommSplit)                                                             \
  X(ncclCommAbort)                                                             \
  X(ncclCommGetAsyncError)                                                     \
  X(ncclCommDestroy)                                                           \
  X(ncclGroupStart)                                                            \
  X(ncclGroupEnd)                                                              \
  X(ncclAllReduce)                                                             \
  X(ncclReduceScatter)                                                         \
  X(ncclAllGather)                                                             \
  X(ncclSend)                                                                  \
  X(ncclRecv)

/// Pointers to the functions, under their names.
struct Nccl {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a member of this name
#define DTC_MEMBER(name) decltype(&::name) name;
  DTC_NCCL_FUNCTIONS(DTC_MEMBER)
#undef DTC_MEMBER

  /// Opens libnccl once; throws an Error if there is none.
  static const Nccl &get();
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_NCCL_NCCL_H
