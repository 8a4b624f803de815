//===- RunTool.cpp - run a linker or an assembler -------------------------===//
//
// See RunTool.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Support/RunTool.h"
#include "dtc/Support/TemporaryFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace dtc;

namespace {

constexpr int endingSignals[] = {SIGHUP, SIGINT, SIGTERM};

/// The process group of the tool that runs, or 0.
volatile sig_atomic_t toolGroup = 0;
/// The actions of `endingSignals` before the tool ran.
struct sigaction former[std::size(endingSignals)];

/// Ends the tool, and then does what the signal did before.
void endTool(int signal) {
  if (pid_t group = toolGroup) {
    kill(-group, SIGTERM);
    // A driver removes its own temporary files; it has two seconds for that.
    for (int i = 0; i < 200; ++i) {
      waitpid(group, nullptr, WNOHANG);
      if (kill(-group, 0) != 0)
        break;
      usleep(10000);
    }
    kill(-group, SIGKILL);
    waitpid(group, nullptr, 0);
  }
  for (size_t i = 0; i < std::size(endingSignals); ++i)
    if (endingSignals[i] == signal)
      sigaction(signal, &former[i], nullptr);
  raise(signal);
}

/// Handles signals as long as it lives. What is ignored stays ignored.
class SignalsEndTool {
public:
  SignalsEndTool() {
    struct sigaction action = {};
    action.sa_handler = endTool;
    for (size_t i = 0; i < std::size(endingSignals); ++i) {
      sigaction(endingSignals[i], nullptr, &former[i]);
      if (former[i].sa_handler != SIG_IGN)
        sigaction(endingSignals[i], &action, nullptr);
    }
  }
  ~SignalsEndTool() {
    toolGroup = 0;
    for (size_t i = 0; i < std::size(endingSignals); ++i)
      sigaction(endingSignals[i], &former[i], nullptr);
  }
};

} // namespace

llvm::Expected<ToolResult>
dtc::runTool(llvm::ArrayRef<llvm::StringRef> arguments) {
  llvm::Expected<TemporaryFile> log = TemporaryFile::create(".log");
  if (!log)
    return log.takeError();
  llvm::StringRef logPath = log->getPath();
  ToolResult result;
  {
    SignalsEndTool signals;
    bool failed = false;
    // Detached: the leader of a process group.
    llvm::sys::ProcessInfo process = llvm::sys::ExecuteNoWait(
        arguments[0], arguments, std::nullopt, {"", logPath, logPath}, 0,
        &result.problem, &failed, nullptr, /*DetachProcess=*/true);
    if (!failed) {
      toolGroup = process.Pid;
      result.code =
          llvm::sys::Wait(process, std::nullopt, &result.problem).ReturnCode;
    } else {
      result.code = -1;
    }
  }
  if (auto text = llvm::MemoryBuffer::getFile(logPath))
    result.said = (*text)->getBuffer().str();
  if (result.code != 0 && result.problem.empty())
    result.problem = llvm::StringRef(result.said).split('\n').first.str();
  return result;
}
