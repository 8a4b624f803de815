//===- OutputFile.h - files that are whole or not there ---------*- C++ -*-===//

#ifndef DTC_SUPPORT_OUTPUTFILE_H
#define DTC_SUPPORT_OUTPUTFILE_H

#include "dtc/Support/TemporaryFile.h"

namespace dtc {

/// A file that a user names and the compiler writes: first a temporary file
/// beside it, which then takes its name. Until then the old file is there, and
/// after it the new one, as a whole. A symbolic link stays, and the file that
/// it names is written. What is no regular file (a device, a pipe) gets the
/// bytes at the end. Errors begin with "cannot write 'PATH': ".
class OutputFile {
public:
  /// Refuses a folder and a file that the user may not write.
  static llvm::Expected<OutputFile> create(llvm::StringRef path);

  const std::string &getPath() const { return path; }
  /// The file to write, or to replace by another file.
  const std::string &getTemporary() const { return temporary.getPath(); }
  /// Writes at the end of the temporary file.
  llvm::Error write(llvm::function_ref<void(llvm::raw_ostream &)> body);
  /// Gives it its name. Without this call nothing has happened.
  llvm::Error keep();

private:
  OutputFile(llvm::StringRef path, llvm::StringRef place, bool isRegular,
             TemporaryFile temporary)
      : path(path), place(place), isRegular(isRegular),
        temporary(std::move(temporary)) {}

  std::string path;  ///< as the user names it
  std::string place; ///< where links lead
  bool isRegular;
  TemporaryFile temporary;
};

/// Writes all of a file; "-" is the standard output.
llvm::Error writeOutput(llvm::StringRef path,
                        llvm::function_ref<void(llvm::raw_ostream &)> body);

} // namespace dtc

#endif // DTC_SUPPORT_OUTPUTFILE_H
