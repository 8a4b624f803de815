//===- Devices.h - figures of the supported GPUs ----------------*- C++ -*-===//

#ifndef DTC_REPORT_DEVICES_H
#define DTC_REPORT_DEVICES_H

#include "dtc/Report/Topology.h"

namespace dtc {

/// A GPU, with the links of the machines that it is sold in.
struct Device {
  llvm::StringRef name;         ///< name in --device: "h100"
  llvm::StringRef architecture; ///< name in --arch: "sm_90"
  int64_t memory;               ///< bytes available under the driver
  DeviceSpeed speed;
  Link nvlink;  ///< to another GPU of the node
  Link network; ///< to a GPU of another node
  int64_t perNode;

  static llvm::ArrayRef<Device> getAll();
  /// Returns the device of this name; null if there is none.
  static const Device *find(llvm::StringRef name);
  /// Lists all names: "a100, h100, h200".
  static std::string listNames();

  /// Returns as many full nodes as the ranks need, or one smaller node if the
  /// ranks do not fill it. `numbers` is the number format of matrix products,
  /// as getNumbers() names it.
  Topology getTopology(int64_t ranks, llvm::StringRef numbers) const;
};

} // namespace dtc

#endif // DTC_REPORT_DEVICES_H
