//===- OutputFile.h - files that are written whole --------------*- C++ -*-===//

#ifndef DTC_SUPPORT_OUTPUTFILE_H
#define DTC_SUPPORT_OUTPUTFILE_H

#include "dtc/Support/TemporaryFile.h"

namespace dtc {

/// A file that a user names and the compiler writes. It is written as a
/// temporary file in the same folder, which is renamed at the end. So the name
/// refers to the complete old file or to the complete new one. If the name is a
/// symbolic link, the link stays, and its target is replaced. A device or a
/// pipe gets the bytes at the end. Errors begin with "cannot write 'PATH': ".
class OutputFile {
public:
  /// Returns an error for a folder, or a file that the user may not write.
  static llvm::Expected<OutputFile> create(llvm::StringRef path);

  const std::string &getPath() const { return path; }
  /// The path of the temporary file, which tools may write or replace.
  const std::string &getTemporary() const { return temporary.getPath(); }
  /// Appends to the temporary file.
  llvm::Error write(llvm::function_ref<void(llvm::raw_ostream &)> body);
  /// Renames the temporary file to the output's name. Without this call,
  /// nothing changes.
  llvm::Error keep();

private:
  OutputFile(llvm::StringRef path, llvm::StringRef place, bool isRegular,
             TemporaryFile temporary)
      : path(path), place(place), isRegular(isRegular),
        temporary(std::move(temporary)) {}

  std::string path;  ///< as the user wrote it
  std::string place; ///< the file behind symbolic links
  bool isRegular;
  TemporaryFile temporary;
};

/// Writes a whole file. "-" is the standard output.
llvm::Error writeOutput(llvm::StringRef path,
                        llvm::function_ref<void(llvm::raw_ostream &)> body);

} // namespace dtc

#endif // DTC_SUPPORT_OUTPUTFILE_H
