//===- RunTool.cpp - run a linker or an assembler -------------------------===//
//
// See RunTool.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Support/RunTool.h"
#include "dtc/Support/EndingSignals.h"
#include "dtc/Support/TemporaryFile.h"
#include "llvm/Support/ErrorOr.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/StringSaver.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dtc;

namespace {

/// The actions of `posix_spawn` in the new process: it gets a session, and so a
/// process group, of its own, and no signals are blocked.
class SpawnActions {
public:
  SpawnActions(const char *log) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    // Opens the existing file only, so a file that a signal has removed is not
    // created again.
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log, O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
  }
  ~SpawnActions() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnActions(const SpawnActions &) = delete;
  SpawnActions &operator=(const SpawnActions &) = delete;

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

} // namespace

/// Runs a program to its end, and returns its status as waitpid does. A signal
/// meanwhile ends both.
static llvm::ErrorOr<int> run(char *const *arguments, const char *log) {
  SpawnActions actions(log);
  pid_t pid;
  auto lock = delayEndingSignals();
  if (int error = posix_spawn(&pid, arguments[0], &actions.files,
                              &actions.attributes, arguments, environ))
    return std::error_code(error, std::generic_category());
  setToolGroup(pid);
  lock.unlock();
  // Waits without reaping: the process number stays valid until the lock is
  // held.
  siginfo_t info;
  while (waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0 &&
         errno == EINTR)
    ;
  lock.lock();
  setToolGroup(0);
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

llvm::Expected<ToolResult>
dtc::runTool(llvm::ArrayRef<llvm::StringRef> arguments) {
  llvm::Expected<TemporaryFile> log = TemporaryFile::create(".log");
  if (!log)
    return log.takeError();
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver(allocator);
  llvm::SmallVector<char *> words;
  for (llvm::StringRef argument : arguments)
    words.push_back(const_cast<char *>(saver.save(argument).data()));
  words.push_back(nullptr);
  llvm::ErrorOr<int> status = run(words.data(), log->getPath().c_str());
  ToolResult result;
  if (!status) {
    result.code = -1;
    result.problem = status.getError().message();
  } else if (WIFSIGNALED(*status)) {
    result.code = -2;
    result.problem = strsignal(WTERMSIG(*status));
  } else {
    result.code = WEXITSTATUS(*status);
  }
  if (auto text = llvm::MemoryBuffer::getFile(log->getPath()))
    result.said = (*text)->getBuffer().str();
  if (result.code != 0 && result.problem.empty())
    result.problem = llvm::StringRef(result.said).split('\n').first.str();
  return result;
}
