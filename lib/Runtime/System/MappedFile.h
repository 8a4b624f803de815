//===- MappedFile.h - a file in memory, read-only ---------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_SYSTEM_MAPPEDFILE_H
#define DTC_LIB_RUNTIME_SYSTEM_MAPPEDFILE_H

#include <string>
#include <string_view>

namespace dtc::rt {

/// A file mapped into memory. If the file is truncated, or its disk fails, a
/// read of the missing bytes ends the process with a line that names the file.
class MappedFile {
public:
  /// Throws an Error if the file does not exist, cannot be read, or is a
  /// folder, a pipe or a device. Does not wait for the writer of a pipe.
  explicit MappedFile(const std::string &path);
  ~MappedFile();
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&) = delete;

  std::string_view bytes() const { return {base, size}; }

  /// Tells the system that these bytes will be read soon.
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
