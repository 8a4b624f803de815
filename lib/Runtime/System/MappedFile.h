//===- MappedFile.h - a file in memory, read-only ---------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_SYSTEM_MAPPEDFILE_H
#define DTC_LIB_RUNTIME_SYSTEM_MAPPEDFILE_H

#include <string>
#include <string_view>

namespace dtc::rt {

/// A file that is truncated, or whose disk fails, while it is mapped ends the
/// process when the missing bytes are read, with a line that names it.
class MappedFile {
public:
  /// Throws when there is no such file, it cannot be read, or it is a folder,
  /// a pipe or a device. Does not wait for the writer of a pipe.
  explicit MappedFile(const std::string &path);
  ~MappedFile();
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&) = delete;

  std::string_view bytes() const { return {base, size}; }

  /// Tells the system that these bytes are read soon.
  void willNeed(size_t start, size_t count) const;

private:
  const char *base = nullptr;
  size_t size = 0;
};

/// For handlers of SIGBUS: if a mapped file is at `address`, writes a line that
/// names it and ends the process with status 1; returns otherwise.
void exitIfFileFault(const void *address);

bool fileExists(const std::string &path);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_SYSTEM_MAPPEDFILE_H
