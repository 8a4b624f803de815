//===- TemporaryFile.cpp - a file that nobody else knows ------------------===//
//
// See TemporaryFile.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Support/TemporaryFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include <csignal>

using namespace dtc;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr int endingSignals[] = {SIGHUP, SIGINT, SIGTERM};

static sigset_t getEndingSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : endingSignals)
    sigaddset(&set, signal);
  return set;
}

/// Removes the files, and ends as without a handler. LLVM's own restores what
/// signals do first, so that a second one (`timeout` sends two) ended it before
/// the files were gone.
static void removeFilesAndEnd(int signal) {
  struct sigaction action = {};
  action.sa_handler = SIG_IGN;
  for (int other : endingSignals)
    sigaction(other, &action, nullptr);
  llvm::sys::RunInterruptHandlers();
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  sigset_t set = getEndingSignals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  raise(signal);
}

/// After LLVM's handlers are there, which are installed once. What is ignored
/// stays so, as by nohup.
static bool handleEndingSignals() {
  struct sigaction action = {}, present;
  action.sa_handler = removeFilesAndEnd;
  action.sa_mask = getEndingSignals();
  for (int signal : endingSignals)
    if (sigaction(signal, nullptr, &present) == 0 &&
        present.sa_handler != SIG_IGN)
      sigaction(signal, &action, nullptr);
  return true;
}

WithoutEndingSignals::WithoutEndingSignals() {
  sigset_t set = getEndingSignals();
  pthread_sigmask(SIG_BLOCK, &set, &former);
}

WithoutEndingSignals::~WithoutEndingSignals() {
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
}

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
  // No signal comes before it is known which file to remove.
  WithoutEndingSignals without;
  std::error_code error =
      fs::createUniqueFile(absolute, descriptor, name, fs::OF_None, mode);
  if (!error) {
    (void)llvm::sys::Process::SafelyCloseFileDescriptor(descriptor);
    llvm::sys::RemoveFileOnSignal(name);
    [[maybe_unused]] static const bool handled = handleEndingSignals();
  }
  if (error)
    return llvm::errorCodeToError(error);
  return TemporaryFile(name);
}

llvm::Expected<TemporaryFile> TemporaryFile::create(llvm::StringRef suffix) {
  llvm::SmallString<128> model;
  path::system_temp_directory(/*erasedOnReboot=*/true, model);
  path::append(model, "dtc-%%%%%%%%%%%%" + suffix);
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
  // Not the output's name, which may be as long as a name can be.
  path::append(model, ".dtc-%%%%%%%%%%%%");
  return make(model, fs::all_read | fs::all_write);
}

std::error_code
TemporaryFile::write(llvm::function_ref<void(llvm::raw_ostream &)> body) {
  std::error_code error;
  llvm::raw_fd_ostream os(this->path, error);
  if (error)
    return error;
  body(os);
  os.close();
  error = os.error();
  os.clear_error(); // else the stream ends the program
  return error;
}

std::error_code TemporaryFile::renameTo(llvm::StringRef name) {
  if (std::error_code error = fs::rename(this->path, name))
    return error;
  llvm::sys::DontRemoveFileOnSignal(this->path);
  this->path.clear();
  return {};
}
