//===- OtherProcess.cpp - a process that may end at any time --------------===//

#include "OtherProcess.h"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace dtc::rt;

OtherProcess::OtherProcess(pid_t number)
    : number(number),
      descriptor(int(syscall(SYS_pidfd_open, number, /*flags=*/0))) {}

OtherProcess::~OtherProcess() {
  if (descriptor >= 0)
    close(descriptor);
}

bool OtherProcess::hasEnded() const {
  if (descriptor < 0)
    return ::kill(number, 0) != 0 && errno == ESRCH;
  pollfd end = {descriptor, POLLIN, 0};
  return poll(&end, 1, 0) == 1;
}

void OtherProcess::kill() const {
  if (descriptor >= 0)
    syscall(SYS_pidfd_send_signal, descriptor, SIGKILL, nullptr, 0);
}

std::optional<ProcessStatus> dtc::rt::readStatus(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  // "123 (name) S 122 121 120 ...": state, parent, process group, session. The
  // name may have any character.
  size_t end = text.rfind(") ");
  if (end == std::string::npos)
    return std::nullopt;
  std::istringstream fields(text.substr(end + 2));
  ProcessStatus status = {};
  pid_t group = 0;
  if (!(fields >> status.state >> status.parent >> group >> status.session))
    return std::nullopt;
  return status;
}

/// The list of the children that a thread has started.
static std::string childrenOf(pid_t process, const std::string &thread) {
  return "/proc/" + std::to_string(process) + "/task/" + thread + "/children";
}

std::optional<std::vector<pid_t>> dtc::rt::runningChildren(pid_t process) {
  std::error_code error;
  if (pid_t self = getpid();
      !std::filesystem::exists(childrenOf(self, std::to_string(self)), error))
    return std::nullopt; // a kernel without CONFIG_PROC_CHILDREN
  std::vector<pid_t> children;
  std::filesystem::directory_iterator threads(
      "/proc/" + std::to_string(process) + "/task", error),
      none;
  for (; !error && threads != none; threads.increment(error)) {
    // A thread that has ended meanwhile has no list.
    std::ifstream list(childrenOf(process, threads->path().filename()));
    for (pid_t child; list >> child;)
      if (auto status = readStatus(child); status && status->state != 'Z')
        children.push_back(child);
  }
  return children;
}

/// Reads which file a process runs; returns an error number.
static int readExecutable(pid_t process, struct stat &file) {
  std::string path = "/proc/" + std::to_string(process) + "/exe";
  return stat(path.c_str(), &file) == 0 ? 0 : errno;
}

std::optional<bool> dtc::rt::runsProgramOf(pid_t process, pid_t other) {
  struct stat own, others;
  if (int error = readExecutable(process, own))
    return error == EACCES ? std::optional(false) : std::nullopt;
  return readExecutable(other, others) == 0 && own.st_dev == others.st_dev &&
         own.st_ino == others.st_ino;
}
