//===- WriteFile.h - files that are wholly written --------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_SYSTEM_WRITEFILE_H
#define DTC_LIB_RUNTIME_SYSTEM_WRITEFILE_H

#include <string>
#include <string_view>
#include <sys/types.h>

namespace dtc::rt {

/// Writes all of the text, or returns false with `errno`.
bool writeAll(int file, std::string_view text);

/// Writes a small file, which is on disk when this returns. Throws an Error on
/// failure.
void writeFile(const std::string &name, std::string_view text);

/// Replaces a file, or creates it, as a whole: a reader sees all of the old or
/// the new file. Returns false with `errno` on failure, and leaves nothing
/// behind.
bool replaceFile(const std::string &name, std::string_view text, mode_t mode);

/// A temporary name in the folder of a file. Removes temporary files of
/// processes that were killed.
std::string temporaryBeside(const std::string &path);

/// Throws an Error if a file cannot be replaced by a new one: a folder, a
/// device.
void expectReplaceable(const std::string &path);

/// Syncs a folder, without which a new name is not on disk. Does nothing on
/// file systems that cannot.
void syncFolder(const std::string &folder);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_SYSTEM_WRITEFILE_H
