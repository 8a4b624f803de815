//===- RecordFile.cpp - a file that may fail without harm -----------------===//

#include "RecordFile.h"

#include "Core/Error.h"
#include "System/WriteFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

using namespace dtc::rt;

RecordFile::RecordFile(std::string name, bool append) : path(std::move(name)) {
  int mode = append ? O_RDWR | O_APPEND : O_WRONLY | O_TRUNC;
  file = open(path.c_str(), O_CREAT | O_CLOEXEC | mode, 0666);
  if (file < 0)
    fail("cannot create '%s': %s", path.c_str(), strerror(errno));
  if (!append)
    return;
  // A job that died while it wrote may have left a part of a line.
  size = std::max<int64_t>(lseek(file, 0, SEEK_END), 0);
  char last = '\n';
  if (size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n')
    begin("\n");
}

RecordFile &RecordFile::operator=(RecordFile &&other) noexcept {
  std::swap(path, other.path);
  std::swap(file, other.file);
  std::swap(size, other.size);
  return *this;
}

RecordFile::~RecordFile() {
  if (file >= 0)
    close(file);
}

void RecordFile::begin(std::string_view record) {
  if (!writeAll(file, record))
    fail("cannot write '%s': %s", path.c_str(), strerror(errno));
  size += int64_t(record.size());
}

int RecordFile::append(std::string_view record) {
  if (file < 0)
    return 0;
  if (writeAll(file, record)) {
    size += int64_t(record.size());
    return 0;
  }
  int error = errno;
  (void)!ftruncate(file, size); // a part of a record; not of a device
  close(std::exchange(file, -1));
  return error;
}

std::string RecordFile::write(std::string_view record, int64_t step) {
  int error = append(record);
  if (!error)
    return {};
  return format("cannot write '%s': %s; it has nothing from step %lld on; "
                "training continues",
                path.c_str(), strerror(error), (long long)step);
}

std::string RecordFile::writeAlone(std::string_view record, const char *rest) {
  int error = append(record);
  if (!error)
    return {};
  return format("cannot write '%s': %s; %s; training continues", path.c_str(),
                strerror(error), rest);
}
