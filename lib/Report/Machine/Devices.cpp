//===- Devices.cpp - figures of the supported GPUs ------------------------===//
//
// The only place with figures of devices. The figures of a row are those of the
// SXM module.
//
//===----------------------------------------------------------------------===//

#include "dtc/Report/Devices.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dtc;

static constexpr int64_t GiB = int64_t(1) << 30;

// Latency of one ring step in NCCL's model for protocol LL128
// (src/graph/tuning.cc, hwLatencies): 1.9 us over NVLink, 4.0 us over a
// network.
static constexpr double nvlinkLatency = 1.9e-6, networkLatency = 4.0e-6;

// Products are dense; data sheets also give twice that rate, with sparsity.
// NVLink figures are for one direction, while data sheets count both. A node
// has eight GPUs and a network adapter for each. The host is behind 16 lanes of
// PCIe, generation 4 for the A100 and 5 for the others; data sheets give 64 and
// 128 GB/s for both directions.
//
// The driver keeps a part of the data sheet's memory. The memory here is the
// total that cuMemGetInfo returns, rounded down to GiB.
static const Device devices[] = {
    // NVIDIA A100 80GB SXM, data sheet of June 2021: FP64 tensor core and FP32
    // 19.5 each, TF32 156, BF16 and FP16 312 TFLOP/s; 80 GB at 2039 GB/s;
    // NVLink 600 GB/s. Network: 200 Gbit/s for each GPU (DGX A100 data sheet).
    {"a100",
     "sm_80",
     79 * GiB,
     {19.5e12, 19.5e12, 156e12, 312e12, 2.039e12, 32e9},
     {300e9, nvlinkLatency},
     {25e9, networkLatency},
     8},
    // NVIDIA H100 SXM, data sheet: FP64 tensor core 67, FP32 67, TF32 989 and
    // BF16 and FP16 1979 TFLOP/s with sparsity; 80 GB at 3.35 TB/s; NVLink 900
    // GB/s. Network: 400 Gbit/s for each GPU (DGX H100 data sheet).
    {"h100",
     "sm_90",
     79 * GiB,
     {67e12, 67e12, 494.7e12, 989.4e12, 3.35e12, 64e9},
     {450e9, nvlinkLatency},
     {50e9, networkLatency},
     8},
    // NVIDIA H200 SXM, data sheet: computes as the H100; 141 GB at 4.8 TB/s.
    // Network: 400 Gbit/s for each GPU (DGX H200 data sheet).
    {"h200",
     "sm_90",
     139 * GiB,
     {67e12, 67e12, 494.7e12, 989.4e12, 4.8e12, 64e9},
     {450e9, nvlinkLatency},
     {50e9, networkLatency},
     8}};

ArrayRef<Device> Device::getAll() { return devices; }

const Device *Device::find(StringRef name) {
  const auto *found = llvm::find_if(
      devices, [&](const Device &device) { return device.name == name; });
  return found == std::end(devices) ? nullptr : found;
}

std::string Device::listNames() {
  return llvm::join(
      llvm::map_range(devices,
                      [](const Device &device) { return device.name; }),
      ", ");
}

Topology Device::getTopology(int64_t ranks, StringRef numbers) const {
  int64_t nodes = llvm::divideCeil(ranks, perNode);
  return {
      nodes, std::min(ranks, perNode), speed.getFlops(numbers), nvlink, network,
      speed};
}
