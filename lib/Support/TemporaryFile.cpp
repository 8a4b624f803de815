//===- TemporaryFile.cpp - temporary files --------------------------------===//
//
// See TemporaryFile.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Support/TemporaryFile.h"
#include "dtc/Support/EndingSignals.h"
#include "dtc/Support/TemporaryOwner.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"

using namespace dtc;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

TemporaryFile &TemporaryFile::operator=(TemporaryFile &&other) noexcept {
  remove();
  this->path = std::exchange(other.path, std::string());
  return *this;
}

void TemporaryFile::remove() {
  if (this->path.empty())
    return;
  (void)fs::remove(this->path);
  llvm::sys::DontRemoveFileOnSignal(this->path);
  this->path.clear();
}

llvm::Expected<TemporaryFile> TemporaryFile::make(llvm::StringRef model,
                                                  unsigned mode) {
  llvm::SmallString<128> absolute(model), name;
  if (std::error_code error = fs::make_absolute(absolute))
    return llvm::errorCodeToError(error);
  int descriptor;
  // A signal must not end the process before the file is registered for
  // removal.
  auto lock = delayEndingSignals();
  std::error_code error =
      fs::createUniqueFile(absolute, descriptor, name, fs::OF_None, mode);
  if (error)
    return llvm::errorCodeToError(error);
  (void)llvm::sys::Process::SafelyCloseFileDescriptor(descriptor);
  llvm::sys::RemoveFileOnSignal(name);
  return TemporaryFile(name);
}

llvm::Expected<TemporaryFile> TemporaryFile::create(llvm::StringRef suffix) {
  llvm::SmallString<128> model;
  path::system_temp_directory(/*erasedOnReboot=*/true, model);
  removeAbandoned(model.str().str(), "");
  path::append(model, temporaryPrefix() + "%%%%%%%%%%%%" + suffix);
  llvm::Expected<TemporaryFile> file =
      make(model, fs::owner_read | fs::owner_write);
  if (!file)
    return llvm::createStringError(
        "cannot write a temporary file in '" + path::parent_path(model) +
        "': " + toString(file.takeError()) + "; set TMPDIR to another folder");
  return file;
}

llvm::Expected<TemporaryFile> TemporaryFile::createIn(llvm::StringRef folder) {
  llvm::SmallString<128> model(folder);
  // The name does not contain the output's name, which may have maximal length
  // already.
  removeAbandoned(folder.str(), ".");
  path::append(model, "." + temporaryPrefix() + "%%%%%%%%%%%%");
  return make(model, fs::all_read | fs::all_write);
}

std::error_code
TemporaryFile::write(llvm::function_ref<void(llvm::raw_ostream &)> body) {
  std::error_code error;
  // Opens the existing file only, so a file that a signal has removed is not
  // created again.
  llvm::raw_fd_ostream os(this->path, error, fs::CD_OpenExisting);
  if (error)
    return error;
  uint64_t size;
  if ((error = fs::file_size(this->path, size)))
    return error;
  os.seek(size);
  body(os);
  os.close();
  error = os.error();
  os.clear_error(); // an unchecked error would abort the process
  return error;
}

std::error_code TemporaryFile::renameTo(llvm::StringRef name) {
  auto lock = delayEndingSignals(); // a signal might remove the file meanwhile
  if (std::error_code error = fs::rename(this->path, name))
    return error;
  llvm::sys::DontRemoveFileOnSignal(this->path);
  this->path.clear();
  return {};
}
