//===- TemporaryFile.h - a file that nobody else knows ----------*- C++ -*-===//

#ifndef DTC_SUPPORT_TEMPORARYFILE_H
#define DTC_SUPPORT_TEMPORARYFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <utility>

namespace dtc {

/// An empty file with an unpredictable name, made by O_EXCL. It is removed when
/// this object is, and when a signal ends the process (see EndingSignals.h).
/// After SIGKILL the next process that makes one in its folder removes it.
class TemporaryFile {
public:
  /// A file in $TMPDIR that the user alone may read. The error begins with
  /// "cannot write a temporary file".
  static llvm::Expected<TemporaryFile> create(llvm::StringRef suffix);
  /// A file in `folder`, with the permissions that umask gives to new files.
  static llvm::Expected<TemporaryFile> createIn(llvm::StringRef folder);

  TemporaryFile(TemporaryFile &&other) noexcept
      : path(std::exchange(other.path, std::string())) {}
  TemporaryFile &operator=(TemporaryFile &&other) noexcept;
  ~TemporaryFile() { remove(); }

  /// Absolute, so no tool takes it for an option.
  const std::string &getPath() const { return path; }
  /// Writes at the end, after what a tool may have written.
  std::error_code write(llvm::function_ref<void(llvm::raw_ostream &)> body);
  /// Gives the file this name, in the same file system. A file of that name is
  /// replaced in one step.
  std::error_code renameTo(llvm::StringRef name);

private:
  explicit TemporaryFile(llvm::StringRef path) : path(path) {}
  static llvm::Expected<TemporaryFile> make(llvm::StringRef model,
                                            unsigned mode);
  void remove();

  std::string path; ///< empty if there is nothing to remove
};

} // namespace dtc

#endif // DTC_SUPPORT_TEMPORARYFILE_H
