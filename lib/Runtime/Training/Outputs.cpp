//===- Outputs.cpp - the files and folders that rank 0 writes -------------===//

#include "Outputs.h"

#include "Core/Error.h"

#include <algorithm>
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

/// Throws if a file that is written is the program, or lies in a folder that it
/// reads or that checkpoints are in.
static void expectApart(const Options &options, const char *option,
                        const std::string &path) {
  std::error_code error;
  if (std::filesystem::equivalent(path, "/proc/self/exe", error))
    fail("found '%s' of %s, which is this program; give it another name",
         path.c_str(), option);
  auto resolve = [&](const std::string &name) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(name),
                                             error);
  };
  std::filesystem::path file = resolve(path);
  std::pair<const char *, const std::string &> folders[] = {
      {"--data", options.data},
      {"--eval-data", options.evalData},
      {"--checkpoint-dir", options.checkpointDir}};
  for (auto &[folderOption, folder] : folders) {
    if (folder.empty() || folder == "synthetic")
      continue;
    std::filesystem::path inner = resolve(folder);
    if (std::mismatch(inner.begin(), inner.end(), file.begin(), file.end())
            .first == inner.end())
      fail("found '%s' of %s in '%s' of %s, expected it elsewhere",
           path.c_str(), option, folder.c_str(), folderOption);
  }
}

void dtc::rt::lockOutputs(const Options &options, OutputLock &outputs) {
  std::pair<const char *, const std::string &> files[] = {
      {"--metrics", options.metrics},
      {"--save-weights", options.saveWeights},
      {"--save-ema", options.saveAverages},
      {"--save-best", options.saveBest},
      {"--trace", options.trace},
      {"--profile", options.profile}};
  for (auto &[option, path] : files) {
    if (path.empty() || path == "-")
      continue;
    expectApart(options, option, path);
    outputs.take(option, path);
  }
  lockFolder(outputs, "--tensorboard", options.tensorboard);
  lockFolder(outputs, "--dump-gradients", options.dumpGradients);
}
