//===- Topology.h - the machines that run a plan ----------------*- C++ -*-===//
//
// Reads the user's file, and computes the time of communication with a model of
// latency and bandwidth.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_REPORT_TOPOLOGY_H
#define DTC_REPORT_TOPOLOGY_H

#include "dtc/Support/Collective.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace dtc {

/// A link, as seen from its slower end. A message of B bytes takes latency + B
/// / bandwidth seconds.
struct Link {
  double bandwidth; ///< bytes per second
  double latency;   ///< seconds
};

/// The peak rates of one device, per second.
struct DeviceSpeed {
  /// Floating-point operations of matrix products, by number format; f16 and
  /// bf16 have the same rate.
  double f64, f32, tf32, half;
  double bandwidth; ///< bytes that its memory reads or writes
  /// Bytes from host memory, and the same number to it; 0 if not known.
  double hostBandwidth = 0;

  /// Rate of a number format: f64, f32, tf32, bf16 or fp16.
  double getFlops(llvm::StringRef numbers) const {
    return numbers == "f64"    ? f64
           : numbers == "f32"  ? f32
           : numbers == "tf32" ? tf32
                               : half;
  }
};

struct Device;

/// Nodes of equal devices. Rank r is on node r / devicesPerNode. As a file:
///
///   {"nodes": 2, "devices_per_node": 4,
///    "device": {"flops": 1e12, "memory_bandwidth": 1e11},
///    "links": {"device": {"bandwidth": 2e10, "latency": 2e-6},
///              "node": {"bandwidth": 1.2e9, "latency": 2e-5}}}
///
/// All keys but memory_bandwidth are needed; a device may have host_bandwidth,
/// too, and there are no others.
struct Topology {
  int64_t nodes, devicesPerNode;
  double flops; ///< floating-point operations per second of one device
  Link device;  ///< between two devices of one node
  Link node;    ///< between two devices of different nodes
  /// Figures for the time of a step; none if the file has no memory_bandwidth.
  std::optional<DeviceSpeed> speed = std::nullopt;

  /// Reads a topology file. If `model` is given, the file has no "device", and
  /// the figures are those of `model` for products in `numbers` (see
  /// DeviceSpeed). The error is one line with the file's name.
  static llvm::Expected<Topology> read(llvm::StringRef path,
                                       const Device *model = nullptr,
                                       llvm::StringRef numbers = "");

  int64_t getNode(int64_t rank) const { return rank / devicesPerNode; }

  /// The smallest bandwidth and the largest latency of a ring through these
  /// ranks in their order.
  Link getSlowestLink(llvm::ArrayRef<int64_t> ranks) const;

  /// Seconds of `count` collectives over these ranks, where `bytes` is the
  /// total size of the whole buffers. On n ranks, a ring takes n - 1 steps of
  /// bytes / n for an all_gather, a reduce_scatter or an all_to_all, and 2 (n -
  /// 1) steps for an all_reduce. A collective_permute is one step of all bytes.
  /// The model ignores contention of rings that share a link.
  double getCollectiveSeconds(CollectiveKind kind,
                              llvm::ArrayRef<int64_t> ranks, int64_t count,
                              int64_t bytes) const;

  /// Seconds of `count` messages between two ranks, `bytes` bytes in total.
  double getMessageSeconds(int64_t from, int64_t to, int64_t count,
                           int64_t bytes) const;
};

} // namespace dtc

#endif // DTC_REPORT_TOPOLOGY_H
