//===- Devices.h - the GPUs whose figures are known -------------*- C++ -*-===//

#ifndef DTC_REPORT_DEVICES_H
#define DTC_REPORT_DEVICES_H

#include "dtc/Report/Topology.h"

namespace dtc {

/// A GPU in the machines that it is sold in.
struct Device {
  llvm::StringRef name;         ///< of --device: "h100"
  llvm::StringRef architecture; ///< of --arch: "sm_90"
  int64_t memory;               ///< bytes that the driver offers
  DeviceSpeed speed;
  Link nvlink;  ///< to another GPU of the node
  Link network; ///< to a GPU of another node
  int64_t perNode;

  static llvm::ArrayRef<Device> getAll();
  /// Null if there is none of this name.
  static const Device *find(llvm::StringRef name);
  /// "a100, h100, h200"
  static std::string listNames();

  /// As many full nodes as so many ranks take; one node with fewer devices for
  /// fewer ranks. `numbers` is what products are computed in, as getNumbers()
  /// has it.
  Topology getTopology(int64_t ranks, llvm::StringRef numbers) const;
};

} // namespace dtc

#endif // DTC_REPORT_DEVICES_H
