//===- HostDevice.h - the cores of a rank -----------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CPU_HOSTDEVICE_H
#define DTC_LIB_RUNTIME_DEVICE_CPU_HOSTDEVICE_H

#include "Device/CPU/Attention/Attention.h"
#include "Device/CPU/Grouped/GroupedProducts.h"
#include "Device/CPU/MatMul/MatMul.h"
#include "Device/CPU/Narrow/Narrow.h"
#include "Device/Device.h"

namespace dtc::rt {

/// An arena in host memory.
std::unique_ptr<Arena> makeHostArena(int64_t bytes, Sharing sharing);

class HostDevice : public Device {
public:
  HostDevice(MatMulEngine engine, bool winograd, int threads)
      : winograd(winograd), matmul(engine, threads) {}

  std::unique_ptr<Arena> makeArena(int64_t bytes, int64_t hostBytes,
                                   Sharing sharing) override;
  void run(dtc_step_fn plan, dtc_context &context, Arena &arena) override {
    plan(&context, arena.address(), nullptr);
  }
  void copyRows(void *to, int64_t toStride, const void *from,
                int64_t fromStride, int64_t rowBytes, int64_t rows) override;
  std::string describe() const override;
  void tuneBy(Tuning &tuning) override { matmul.tuneBy(tuning); }

  bool winograd; ///< whether convolutions may be computed by tiles
  MatMul matmul;
  Narrow narrow{matmul};
  Attention attention{matmul};
  GroupedProducts grouped{matmul};
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CPU_HOSTDEVICE_H
