//===- OtherProcess.cpp - a process that may end at any time --------------===//

#include "OtherProcess.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <string>
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
  // "123 (name) S 122 ...", where the name may have any character.
  size_t end = text.rfind(") ");
  if (end == std::string::npos)
    return std::nullopt;
  return ProcessStatus{text[end + 2],
                       pid_t(strtol(text.c_str() + end + 3, nullptr, 10))};
}

bool dtc::rt::hasRunningChildren(pid_t process) {
  std::error_code error;
  std::filesystem::directory_iterator threads(
      "/proc/" + std::to_string(process) + "/task", error),
      none;
  for (; !error && threads != none; threads.increment(error)) {
    std::ifstream list(threads->path() / "children");
    if (!list)
      return true;
    for (pid_t child; list >> child;)
      if (auto status = readStatus(child); status && status->state != 'Z')
        return true;
  }
  return false;
}
