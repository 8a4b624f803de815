//===- Machine.cpp - the machine that a process is on ---------------------===//

#include "Machine.h"

#include "Core/Error.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <gnu/libc-version.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

using namespace dtc::rt;

/// The value of a name in a file of "name: value" lines; empty if it has none.
static std::string lookUp(const char *path, const std::string &name) {
  std::string line;
  for (std::ifstream file(path); std::getline(file, line);)
    if (line.starts_with(name))
      if (size_t at = line.find(':'); at != std::string::npos)
        if (size_t text = line.find_first_not_of(" \t", at + 1);
            text != std::string::npos)
          return line.substr(text);
  return {};
}

/// "123 kB" of /proc/meminfo.
static double memoryOf(const char *name) {
  return strtod(lookUp("/proc/meminfo", name).c_str(), nullptr) * 1024;
}

int dtc::rt::coresPerRank(int localRanks) {
  int cores = int(std::thread::hardware_concurrency());
  int share = std::max(1, cores / localRanks);
  // A launcher may have bound this rank to fewer cores.
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    share = std::min(share, CPU_COUNT(&allowed));
  return std::max(1, share);
}

std::string dtc::rt::describeMachine() {
  utsname system;
  uname(&system);
  std::string distribution, line;
  for (std::ifstream file("/etc/os-release"); std::getline(file, line);)
    if (line.starts_with("PRETTY_NAME="))
      distribution = line.substr(strlen("PRETTY_NAME="));
  std::erase(distribution, '"');
  std::string text = format(
      "host       %s\nsystem     %s, Linux %s, glibc %s\n", system.nodename,
      distribution.empty() ? "unknown" : distribution.c_str(), system.release,
      gnu_get_libc_version());
  text += format("processor  %s, %u cores, of which this process may use %d\n",
                 lookUp("/proc/cpuinfo", "model name").c_str(),
                 std::thread::hardware_concurrency(), coresPerRank(1));
  text += format("memory     %s, %s free\n",
                 formatBytes(memoryOf("MemTotal")).c_str(),
                 formatBytes(memoryOf("MemAvailable")).c_str());
  struct statvfs shared;
  if (statvfs("/dev/shm", &shared) == 0)
    text += format(
        "/dev/shm   %s, %s free\n",
        formatBytes(double(shared.f_blocks) * double(shared.f_frsize)).c_str(),
        formatBytes(double(shared.f_bavail) * double(shared.f_frsize)).c_str());
  rlimit locked;
  if (getrlimit(RLIMIT_MEMLOCK, &locked) == 0)
    text += format("memlock    %s\n",
                   locked.rlim_cur == RLIM_INFINITY
                       ? "unlimited"
                       : formatBytes(double(locked.rlim_cur)).c_str());
  return text;
}

std::string dtc::rt::bootId() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

std::string dtc::rt::fileOf(const void *function) {
  Dl_info info;
  return dladdr(function, &info) && info.dli_fname ? info.dli_fname
                                                   : "unknown file";
}
