//===- PathWithin.h - the path of a file within a folder --------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_SYSTEM_PATHWITHIN_H
#define DTC_LIB_RUNTIME_SYSTEM_PATHWITHIN_H

#include <filesystem>

namespace dtc::rt {

/// The relative path from a folder to `path`; `.` for the folder itself.
/// Symbolic links are resolved, and neither path has to exist. Empty if `path`
/// is elsewhere, or `folder` is empty.
inline std::filesystem::path pathWithin(const std::filesystem::path &folder,
                                        const std::filesystem::path &path) {
  if (folder.empty())
    return {};
  auto resolve = [](const std::filesystem::path &name) {
    std::error_code error;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(name),
                                             error);
  };
  std::filesystem::path way = resolve(path).lexically_relative(resolve(folder));
  return way.empty() || *way.begin() == ".." ? "" : way;
}

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_SYSTEM_PATHWITHIN_H
