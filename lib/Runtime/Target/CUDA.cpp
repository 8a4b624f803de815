//===- CUDA.cpp - programs that run on GPUs -------------------------------===//
//
// A rank computes on a GPU. Ranks communicate by NCCL.
//
//===----------------------------------------------------------------------===//

#include "Agreement/Agree.h"
#include "Collectives/NCCL/NcclCollectives.h"
#include "Core/Error.h"
#include "Core/Outcome.h"
#include "Device/CUDA/CudaDevice.h"
#include "Device/Device.h"
#include "Options/OptionValues.h"
#include "Options/Options.h"

#include "Target.h"

using namespace dtc::rt;

std::unique_ptr<Device> dtc::rt::openDevice(const Options &options,
                                            Collectives &collectives) {
  auto &nccl = static_cast<NcclCollectives &>(collectives);
  auto device = std::make_unique<CudaDevice>(gpuOfRank(nccl.where().localRank),
                                             dtc_device_v1, options.cudaGraph);
  device->useTf32(options.tf32);
  nccl.meet(*device, options.rendezvous, options.timeout);
  agree(nccl, attempt([&] { nccl.expectOwnGpus(); }), options.name);
  nccl.connect(*device);
  return device;
}

std::unique_ptr<Device> dtc::rt::openOwnDevice(const Options &options,
                                               const Environment &environment) {
  auto device = std::make_unique<CudaDevice>(gpuOfRank(environment.localRank),
                                             dtc_device_v1,
                                             /*usesGraphs=*/false);
  device->useTf32(options.tf32);
  return device;
}

std::string dtc::rt::describeTarget() {
  return std::string("cuda ") + dtc_device_v1.architecture;
}

void dtc::rt::checkDevice() { CudaDriver::get(); }

std::unique_ptr<Collectives> dtc::rt::startCollectives(const Options &) {
  return std::make_unique<NcclCollectives>(Environment::get());
}

std::unique_ptr<Collectives> dtc::rt::overlayCollectives(const Options &,
                                                         Collectives &) {
  return nullptr;
}

void dtc::rt::addDeviceOptions(CLI::App &app, Options &options) {
  app.add_flag("--tf32", options.tf32,
               "round operands of f32 matrix products and convolutions to "
               "tf32, for tensor cores");
  app.add_option(
         "--cuda-graph", options.cudaGraph,
         "on or off: launch the steps after the first as one CUDA graph")
      ->type_name("STATE")
      ->default_str("on")
      ->transform(oneOf<bool>({{"on", true}, {"off", false}}));
}
