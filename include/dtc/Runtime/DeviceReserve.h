//===- DeviceReserve.h - memory of a GPU beside the arena -------*- C++ -*-===//
//
// What a rank of a program for GPUs needs besides its arena, in bytes: what the
// runtime allocates, and what NVIDIA's libraries take. The runtime and the
// compiler, which checks --device-memory, agree on it here. No LLVM, no CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_RUNTIME_DEVICERESERVE_H
#define DTC_RUNTIME_DEVICERESERVE_H

#include <cstdint>

namespace dtc {

/// Workspace of matrix products: as large as cuBLASLt's heuristics want on
/// Hopper.
constexpr int64_t productWorkspaceBytes = int64_t(32) << 20;

/// So many ones of 16 bits, by which products sum rows where the library does
/// not.
constexpr int64_t productOnes = 2048;

/// Workspace of convolutions and attention, at most, unless dtc's --workspace
/// says another: convolutions of f32 without tensor cores want copies of the
/// images in another order.
constexpr int64_t networkWorkspaceBytes = int64_t(1) << 30;

/// Bytes that cuDNN keeps for the gradient of one sample's group of heads: 16
/// bits for each score, in tiles of 128 queries and keys.
constexpr int64_t scoreTile = 128;
constexpr int64_t scoreBytesOf(int64_t queries, int64_t keys,
                               int64_t headsOfGroup) {
  return (queries + scoreTile - 1) / scoreTile * scoreTile *
         ((keys + scoreTile - 1) / scoreTile * scoreTile) * 2 * headsOfGroup;
}

/// Returns the bytes of a workspace that the scores of attention's gradients
/// may take. The library needs the rest for sums of rows and, if heads share
/// keys, for the gradient of each head.
constexpr int64_t scoreBudgetOf(int64_t workspace) { return workspace / 2; }

/// Data of the host move between ranks in pieces of this size. Only with
/// several ranks.
constexpr int64_t stagingBytes = int64_t(16) << 20;

/// Memory of NCCL for one communicator of several ranks: on each of up to 24
/// channels a buffer of each protocol, 512 KiB (LL), 4.7 MiB (LL128) and 4 MiB
/// (Simple, NCCL_BUFFSIZE), 221 MiB; and its state of peers.
constexpr int64_t communicatorBytes = int64_t(256) << 20;

/// A context of the driver and the code that is loaded into it: about 500 MiB
/// on GPUs of 100 and more multiprocessors (local memory of all threads that
/// fit, the driver's own heap), and the kernels of cuBLASLt, NCCL and the
/// program, which are loaded when they are first launched.
constexpr int64_t contextBytes = int64_t(768) << 20;

} // namespace dtc

#endif // DTC_RUNTIME_DEVICERESERVE_H
