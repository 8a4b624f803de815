//===- Replay.cpp - runs a parser on a corpus -----------------------------===//
//
// The `main` of a target where libFuzzer's is not: each argument is a file or a
// folder of files.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(const std::filesystem::path &path) {
  std::ifstream stream(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(stream)),
                          std::istreambuf_iterator<char>());
  printf("%s\n", path.c_str());
  fflush(stdout); // before it may crash
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()),
                         bytes.size());
}

int main(int argc, char **argv) {
  int count = 0;
  for (int i = 1; i < argc; ++i)
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(argv[i]))
      if (entry.is_regular_file() && ++count)
        replay(entry.path());
  printf("%d inputs\n", count);
  return count ? 0 : 1;
}
