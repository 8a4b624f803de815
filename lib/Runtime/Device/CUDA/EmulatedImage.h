//===- EmulatedImage.h - device code that is the host's ---------*- C++ -*-===//
//
// The module that a program of architecture "host" gives the driver. Only the
// driver's stand-in, for tests, accepts it.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CUDA_EMULATEDIMAGE_H
#define DTC_LIB_RUNTIME_DEVICE_CUDA_EMULATEDIMAGE_H

#include "dtc/Runtime/DeviceABI.h"

#include <cstring>

namespace dtc::rt {

struct EmulatedImage {
  static constexpr char expected[] = "dtc emulated device functions";

  explicit EmulatedImage(const dtc_device_program &program)
      : program(&program) {
    memcpy(magic, expected, sizeof expected);
  }

  static const EmulatedImage *find(const void *image) {
    return memcmp(image, expected, sizeof expected) == 0
               ? static_cast<const EmulatedImage *>(image)
               : nullptr;
  }

  char magic[32] = {};
  const dtc_device_program *program;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CUDA_EMULATEDIMAGE_H
