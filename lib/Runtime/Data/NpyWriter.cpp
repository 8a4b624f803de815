//===- NpyWriter.cpp - an array that is written row by row ----------------===//

#include "NpyWriter.h"

#include "Core/Error.h"
#include "System/WriteFile.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace dtc::rt;

/// The magic, the version, the length and the dictionary, padded so that the
/// elements begin at a multiple of 64 bytes.
static std::string makeHeader(dtc_dtype dtype,
                              const std::vector<int64_t> &shape) {
  std::string sizes;
  for (int64_t size : shape)
    sizes += std::to_string(size) + ",";
  std::string text =
      format("{'descr': '<%s', 'fortran_order': False, 'shape': (%s), }",
             dtc::getElementType(dtype).npy, sizes.c_str());
  constexpr size_t start = 10;
  text.append(63 - (start + text.size()) % 64, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += char(text.size() & 0xff);
  header += char(text.size() >> 8);
  return header + text;
}

NpyWriter::NpyWriter(std::string target, dtc_dtype dtype,
                     const std::vector<int64_t> &shape)
    : path(std::move(target)), temporary(temporaryBeside(path)) {
  expectReplaceable(path);
  file = fopen(temporary.c_str(), "we");
  if (!file)
    failure("create");
  std::string header = makeHeader(dtype, shape);
  append(header.data(), int64_t(header.size()));
}

NpyWriter::~NpyWriter() {
  if (!file)
    return;
  fclose(file);
  unlink(temporary.c_str());
}

void NpyWriter::failure(const char *action) {
  int error = errno;
  if (file)
    fclose(file);
  file = nullptr;
  unlink(temporary.c_str());
  fail("cannot %s '%s': %s", action, path.c_str(), strerror(error));
}

void NpyWriter::append(const void *data, int64_t bytes) {
  if (fwrite(data, 1, size_t(bytes), file) != size_t(bytes))
    failure("write");
}

void NpyWriter::commit() {
  if (fflush(file) != 0 || fsync(fileno(file)) != 0)
    failure("write");
  if (rename(temporary.c_str(), path.c_str()) != 0)
    failure("rename to");
  fclose(file);
  file = nullptr;
}
