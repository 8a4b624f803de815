//===- TemporaryDirectory.h - a folder for one test -------------*- C++ -*-===//

#ifndef DTC_UNITTESTS_RUNTIME_TEMPORARYDIRECTORY_H
#define DTC_UNITTESTS_RUNTIME_TEMPORARYDIRECTORY_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

struct TemporaryDirectory {
  std::string path;

  TemporaryDirectory() {
    path = std::filesystem::temp_directory_path() / "dtcrt-XXXXXX";
    if (!mkdtemp(path.data()))
      abort();
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path); }

  std::string operator/(const std::string &name) const {
    return path + "/" + name;
  }

  std::string makeFolder(const std::string &name) const {
    std::filesystem::create_directories(*this / name);
    return *this / name;
  }

  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(*this / name, std::ios::binary) << bytes;
    return *this / name;
  }

  /// A .npy file of version 1 with this header and these bytes.
  std::string writeNpy(const std::string &name, const std::string &descr,
                       const std::string &shape, const void *data, size_t bytes,
                       const std::string &order = "False") const {
    std::string header = "{'descr': " + descr + ", 'fortran_order': " + order +
                         ", 'shape': " + shape + ", }";
    header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');
    header += '\n';
    std::string file("\x93NUMPY\x01\x00", 8);
    file += char(header.size() & 255);
    file += char(header.size() >> 8);
    file += header;
    return write(name,
                 file + std::string(static_cast<const char *>(data), bytes));
  }
};

inline std::string readFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

#endif // DTC_UNITTESTS_RUNTIME_TEMPORARYDIRECTORY_H
