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

namespace dtc {

/// A link as its slower end sees it: one message of B bytes takes
/// latency + B / bandwidth.
struct Link {
  double bandwidth; ///< bytes per second
  double latency;   ///< seconds
};

/// Nodes of equal devices. Rank r is on node r / devicesPerNode. As a file:
///
///   {"nodes": 2, "devices_per_node": 4,
///    "device": {"flops": 1e12},
///    "links": {"device": {"bandwidth": 2e10, "latency": 2e-6},
///              "node": {"bandwidth": 1.2e9, "latency": 2e-5}}}
///
/// All keys are needed and there are no others.
struct Topology {
  int64_t nodes, devicesPerNode;
  double flops; ///< floating-point operations per second of one device
  Link device;  ///< between two devices of one node
  Link node;    ///< between two devices of different nodes

  /// The error is one line with the file's name.
  static llvm::Expected<Topology> read(llvm::StringRef path);

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
