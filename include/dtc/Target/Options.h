//===- Options.h - what a program is compiled for ---------------*- C++ -*-===//

#ifndef DTC_TARGET_OPTIONS_H
#define DTC_TARGET_OPTIONS_H

#include "dtc/Runtime/DeviceReserve.h"
#include <string>

namespace dtc {

struct TargetOptions {
  std::string kind = "cpu";           ///< cpu or cuda
  std::string cpu = "native";         ///< of the program's host code
  std::string architecture = "sm_90"; ///< of GPUs
  /// Bytes that convolutions and attention may use on GPUs.
  int64_t workspace = networkWorkspaceBytes;
};

} // namespace dtc

#endif // DTC_TARGET_OPTIONS_H
