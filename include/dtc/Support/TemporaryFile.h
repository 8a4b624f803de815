//===- TemporaryFile.h - temporary files ------------------------*- C++ -*-===//

#ifndef DTC_SUPPORT_TEMPORARYFILE_H
#define DTC_SUPPORT_TEMPORARYFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <utility>

namespace dtc {

/// An empty file with an unpredictable name, created with O_EXCL. It is removed
/// with this object, or when a signal ends the process (see EndingSignals.h).
/// After SIGKILL, the next process that creates a temporary file in the same
/// folder removes it.
class TemporaryFile {
public:
  /// Creates a file in $TMPDIR that only the user may read. The error begins
  /// with "cannot write a temporary file".
  static llvm::Expected<TemporaryFile> create(llvm::StringRef suffix);
  /// Creates a file in `folder`, with the permissions of umask.
  static llvm::Expected<TemporaryFile> createIn(llvm::StringRef folder);

  TemporaryFile(TemporaryFile &&other) noexcept
      : path(std::exchange(other.path, std::string())) {}
  TemporaryFile &operator=(TemporaryFile &&other) noexcept;
  ~TemporaryFile() { remove(); }

  /// An absolute path, so that no tool takes it for an option.
  const std::string &getPath() const { return path; }
  /// Appends to the file, after the output of tools.
  std::error_code write(llvm::function_ref<void(llvm::raw_ostream &)> body);
  /// Renames the file, within its file system. Replaces an existing file
  /// atomically.
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
