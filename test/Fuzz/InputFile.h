//===- InputFile.h - the bytes of a fuzzer as a file ------------*- C++ -*-===//

#ifndef DTC_TEST_FUZZ_INPUTFILE_H
#define DTC_TEST_FUZZ_INPUTFILE_H

#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace dtc::test {

/// A file in memory, for readers that take a path.
class InputFile {
public:
  InputFile(const uint8_t *data, size_t size)
      : descriptor(memfd_create("input", MFD_CLOEXEC)) {
    if (descriptor < 0 || write(descriptor, data, size) != ssize_t(size))
      abort();
  }
  ~InputFile() { close(descriptor); }
  InputFile(const InputFile &) = delete;

  std::string getPath() const {
    return "/proc/self/fd/" + std::to_string(descriptor);
  }

private:
  int descriptor;
};

} // namespace dtc::test

#endif // DTC_TEST_FUZZ_INPUTFILE_H
