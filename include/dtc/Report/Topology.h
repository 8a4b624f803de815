//===- Topology.h - the machines that a plan is to run on -------*- C++ -*-===//
//
// Read from a file of the user's; what collectives take there, by the usual
// model of latency and bandwidth.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_REPORT_TOPOLOGY_H
#define DTC_REPORT_TOPOLOGY_H

#include "dtc/Support/Collective.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace dtc {

/// A link as its slower end sees it: one message of B bytes takes
/// latency + B / bandwidth.
struct Link {
  double bandwidth; ///< bytes per second
  double latency;   ///< seconds
};

/// What one device does in a second at most.
struct DeviceSpeed {
  /// Floating-point operations of matrix products, by what these are computed
  /// in; f16 and bf16 are alike.
  double f64, f32, tf32, half;
  double bandwidth; ///< bytes that its memory reads or writes
  /// Bytes from the host's memory, and as many to it; 0: not known.
  double hostBandwidth = 0;

  /// By the name of numbers: f64, f32, tf32, bf16, fp16.
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
  /// What the time of a step follows from; none if the file has no
  /// memory_bandwidth.
  std::optional<DeviceSpeed> speed = std::nullopt;

  /// With a `model`, whose figures are those of the device in `numbers` (as of
  /// DeviceSpeed), the file has no "device". The error is one line with the
  /// file's name.
  static llvm::Expected<Topology> read(llvm::StringRef path,
                                       const Device *model = nullptr,
                                       llvm::StringRef numbers = "");

  int64_t getNode(int64_t rank) const { return rank / devicesPerNode; }

  /// The smallest bandwidth and largest latency of a ring through these ranks,
  /// which are in order.
  Link getSlowestLink(llvm::ArrayRef<int64_t> ranks) const;

  /// Seconds of `count` collectives over these ranks, `bytes` bytes of whole
  /// buffers all together. On n ranks, a ring takes n - 1 steps of bytes / n
  /// for an all_gather, a reduce_scatter or an all_to_all, and 2 (n - 1) for an
  /// all_reduce; a collective_permute is one step of all bytes. Rings that
  /// share a link are not slowed down by each other.
  double getCollectiveSeconds(CollectiveKind kind,
                              llvm::ArrayRef<int64_t> ranks, int64_t count,
                              int64_t bytes) const;

  /// Seconds of `count` messages between two ranks, `bytes` bytes all together.
  double getMessageSeconds(int64_t from, int64_t to, int64_t count,
                           int64_t bytes) const;
};

} // namespace dtc

#endif // DTC_REPORT_TOPOLOGY_H
