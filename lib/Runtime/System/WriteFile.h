//===- WriteFile.h - files that are wholly written --------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_SYSTEM_WRITEFILE_H
#define DTC_LIB_RUNTIME_SYSTEM_WRITEFILE_H

#include <string>
#include <string_view>
#include <sys/types.h>

namespace dtc::rt {

/// Writes all of the text, or returns false with `errno`.
bool writeAll(int file, std::string_view text);

/// A small file, on disk when this returns. Throws an Error if it cannot be.
void writeFile(const std::string &name, std::string_view text);

/// Puts a file in place of a former one, or of none, as a whole: whoever sees
/// it sees all of it. Or returns false with `errno`, and leaves nothing.
bool replaceFile(const std::string &name, std::string_view text, mode_t mode);

/// A name beside a file, where it can take the file's name. Removes what
/// processes that were killed have left there.
std::string temporaryBeside(const std::string &path);

/// Throws an Error if a file cannot be replaced by a new one: a folder, a
/// device.
void expectReplaceable(const std::string &path);

/// A new name is on disk only when its folder is. Does nothing on file systems
/// without.
void syncFolder(const std::string &folder);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_SYSTEM_WRITEFILE_H
