//===- make-model.cpp - writes the models of the frontend's tests ---------===//
//
// Usage: dtc-make-model NAME -o FILE. So the tests need neither Python nor
// binary files in the repository.
//
//===----------------------------------------------------------------------===//

#include "Models.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace dtc::test;

static bool write(const std::filesystem::path &path, const std::string &bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(bytes.data(), bytes.size());
  return bool(stream.flush());
}

int main(int argc, char **argv) {
  ModelTable table;
  addBrokenModels(table);
  addUnsupportedModels(table);
  addHugeModels(table);
  addFunctionModels(table);
  addSoundModels(table);
  addImageModels(table);
  addIndexModels(table);
  addLoopModels(table);
  addMaskModels(table);
  addRandomModels(table);
  addRecurrentModels(table);
  addSamplingModels(table);
  addSpectrumModels(table);
  if (argc != 4 || std::string(argv[2]) != "-o" || !table.count(argv[1])) {
    std::fprintf(stderr, "usage: %s NAME -o FILE, where NAME is one of\n",
                 argv[0]);
    for (const auto &[name, make] : table)
      std::fprintf(stderr, "  %s\n", name.c_str());
    return 1;
  }
  File file = table.at(argv[1])();
  std::filesystem::path path = argv[3];
  if (!write(path, file.bytes) ||
      (!file.externalName.empty() &&
       !write(path.parent_path() / file.externalName, file.externalBytes))) {
    std::fprintf(stderr, "cannot write %s\n", argv[3]);
    return 1;
  }
}
