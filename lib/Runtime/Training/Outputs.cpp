//===- Outputs.cpp - the files and folders that rank 0 writes -------------===//

#include "Outputs.h"

#include "Checkpoint/Parameters.h"
#include "Core/Error.h"
#include "System/PathWithin.h"

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

/// Throws an Error if an output would overwrite the program, its weights, an
/// array of the data, or a file of a checkpoint.
static void expectApart(const Program &program, const Options &options,
                        const char *option, const std::string &path) {
  std::error_code error;
  if (std::filesystem::equivalent(path, "/proc/self/exe", error))
    fail("found '%s' of %s, which is this program; give it another name",
         path.c_str(), option);
  if (!program.weightsFile.empty() &&
      std::filesystem::equivalent(path, pathOfWeights(program), error))
    fail("found '%s' of %s, which this program starts from; give it another "
         "name",
         path.c_str(), option);
  for (const std::string &folder : {options.data, options.evalData}) {
    std::string extension = pathWithin(folder, path).extension();
    if (extension == ".npy" || extension == ".bin")
      fail("found '%s' of %s, which may be data; give it another name",
           path.c_str(), option);
  }
  if (!options.autotune.empty() && pathWithin(path, options.autotune) == ".")
    fail("found '%s' of %s, which is the file of --autotune; give it another "
         "name",
         path.c_str(), option);
  std::filesystem::path inner = pathWithin(options.checkpointDir, path);
  if (!inner.empty() && inner.begin()->string().starts_with("step-"))
    fail("found '%s' of %s, which is in a checkpoint; give it another name",
         path.c_str(), option);
}

void dtc::rt::lockOutputs(const Program &program, const Options &options,
                          OutputLock &outputs) {
  std::pair<const char *, const std::string &> files[] = {
      {"--metrics", options.metrics},
      {"--save-weights", options.saveWeights},
      {"--save-ema", options.saveAverages},
      {"--save-best", options.saveBest},
      {"--predict", options.predict},
      {"--record-arrivals", options.recordArrivals},
      {"--trace", options.trace},
      {"--profile", options.profile}};
  for (auto &[option, path] : files) {
    if (path.empty() || path == "-")
      continue;
    expectApart(program, options, option, path);
    outputs.take(option, path);
  }
  lockFolder(outputs, "--tensorboard", options.tensorboard);
  lockFolder(outputs, "--dump-gradients", options.dumpGradients);
}
