//===- Outputs.cpp - the files and folders that rank 0 writes -------------===//

#include "Outputs.h"

#include "Core/Error.h"

#include <filesystem>

using namespace dtc::rt;

static void lockFolder(OutputLock &outputs, const char *option,
                       const std::string &path) {
  if (path.empty())
    return;
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error)
    fail("cannot create directory '%s': %s", path.c_str(),
         error.message().c_str());
  outputs.take(option, path);
}

void dtc::rt::lockOutputs(const Options &options, OutputLock &outputs) {
  outputs.take("--metrics", options.metrics);
  outputs.take("--save-weights", options.saveWeights);
  outputs.take("--save-ema", options.saveAverages);
  outputs.take("--save-best", options.saveBest);
  outputs.take("--trace", options.trace);
  if (options.profile != "-")
    outputs.take("--profile", options.profile);
  lockFolder(outputs, "--tensorboard", options.tensorboard);
  lockFolder(outputs, "--dump-gradients", options.dumpGradients);
}
