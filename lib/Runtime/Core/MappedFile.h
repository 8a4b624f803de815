//===- MappedFile.h - a file in memory, read-only ---------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_CORE_MAPPEDFILE_H
#define DTC_LIB_RUNTIME_CORE_MAPPEDFILE_H

#include <string>
#include <string_view>

namespace dtc::rt {

class MappedFile {
public:
  /// Throws when there is no such file, or it cannot be read.
  explicit MappedFile(const std::string &path);
  ~MappedFile();
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&) = delete;

  std::string_view bytes() const { return {base, size}; }

private:
  const char *base = nullptr;
  size_t size = 0;
};

bool fileExists(const std::string &path);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CORE_MAPPEDFILE_H
