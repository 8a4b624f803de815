//===- CPU.cpp - programs that run on CPUs --------------------------------===//
//
// A rank computes on cores. Ranks communicate by MPI or Gloo, and by shared
// memory within a machine.
//
//===----------------------------------------------------------------------===//

#include "Collectives/Collectives.h"
#include "Collectives/Watched.h"
#include "Core/Error.h"
#include "Device/CPU/HostDevice.h"
#include "Options/OptionValues.h"
#include "System/Machine.h"
#include "Target.h"

#include <dnnl.h>
#include <mpi.h>

using namespace dtc::rt;

std::unique_ptr<Device> dtc::rt::openDevice(const Options &options,
                                            Collectives &collectives) {
  int threads =
      options.threads ? options.threads : coresPerRank(collectives.localSize());
  return std::make_unique<HostDevice>(options.matmul, options.winograd,
                                      threads);
}

std::unique_ptr<Device> dtc::rt::openOwnDevice(const Options &options,
                                               const Environment &environment) {
  int threads =
      options.threads ? options.threads : coresPerRank(environment.localSize);
  return std::make_unique<HostDevice>(options.matmul, options.winograd,
                                      threads);
}

std::vector<DeviceLine> dtc::rt::describeDevices(bool) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string mpi(text, size_t(length));
  mpi = mpi.substr(0, mpi.find_first_of(",\n"));
  const dnnl_version_t &dnnl = *dnnl_version();
  return {
      {format("library    %s, %s", mpi.c_str(),
              fileOf(reinterpret_cast<const void *>(MPI_Init)).c_str())},
      {format("library    oneDNN %d.%d.%d, %s", dnnl.major, dnnl.minor,
              dnnl.patch,
              fileOf(reinterpret_cast<const void *>(dnnl_version)).c_str())}};
}

std::string dtc::rt::describeTarget() { return "cpu"; }

void dtc::rt::checkDevice() {}

std::unique_ptr<Collectives> dtc::rt::startCollectives(const Options &options) {
  Environment environment = Environment::get();
  if (environment.launcher == Launcher::none)
    return makeSelfCollectives();
  if (environment.servesMpi)
    return makeMpiCollectives(options.timeout);
  return makeGlooCollectives(environment, options.rendezvous, options.timeout);
}

std::unique_ptr<Collectives> dtc::rt::overlayCollectives(const Options &options,
                                                         Collectives &started) {
  if (started.size() == 1)
    return nullptr;
  std::unique_ptr<Collectives> shared;
  if (options.collectives == CollectivesEngine::automatic)
    shared = makeSharedMemoryCollectives(started);
  return makeWatchedCollectives(std::move(shared), started, options.timeout);
}

void dtc::rt::addDeviceOptions(CLI::App &app, Options &options) {
  app.add_option("--threads", options.threads, "threads per rank")
      ->type_name("N")
      ->envname("OMP_NUM_THREADS")
      ->default_str("cores / ranks")
      ->check(atLeastOne);
  app.add_option("--matmul", options.matmul,
                 "engine of f32 matrix products: builtin or onednn")
      ->type_name("ENGINE")
      ->default_str("builtin")
      ->transform(oneOf<MatMulEngine>({{"builtin", MatMulEngine::builtin},
                                       {"onednn", MatMulEngine::oneDnn}}));
  app.add_option("--winograd", options.winograd,
                 "on or off: compute f32 convolutions with 3 x 3 taps and "
                 "stride 1 by Winograd's transforms, with a quarter of the "
                 "multiplications and errors of about 2e-6 rather than 3e-7")
      ->type_name("STATE")
      ->default_str("on")
      ->transform(oneOf<bool>({{"on", true}, {"off", false}}));
  app.add_option("--collectives", options.collectives,
                 "auto or mpi. auto uses shared memory between ranks of one "
                 "machine where the system allows it. mpi uses MPI, or Gloo "
                 "under launchers without MPI, for all ranks")
      ->type_name("ENGINE")
      ->default_str("auto")
      ->transform(
          oneOf<CollectivesEngine>({{"auto", CollectivesEngine::automatic},
                                    {"mpi", CollectivesEngine::network}}));
}
