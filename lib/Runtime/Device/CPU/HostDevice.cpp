//===- HostDevice.cpp - the cores of a rank -------------------------------===//

#include "HostDevice.h"

#include "Core/Error.h"

#include <cstring>
#include <fstream>

using namespace dtc::rt;

std::unique_ptr<Arena> HostDevice::makeArena(int64_t bytes, int64_t hostBytes,
                                             Sharing sharing) {
  if (hostBytes)
    fail("this program keeps %s in the host's memory, expected none: its "
         "arena is there; compile without --offload",
         formatBytes(double(hostBytes)).c_str());
  return makeHostArena(bytes, sharing);
}

void HostDevice::copyRows(void *to, int64_t toStride, const void *from,
                          int64_t fromStride, int64_t rowBytes, int64_t rows) {
  for (int64_t row = 0; row < rows; ++row)
    memcpy(static_cast<char *>(to) + row * toStride,
           static_cast<const char *>(from) + row * fromStride,
           size_t(rowBytes));
}

/// "AMD EPYC 9654 96-Core Processor, avx512, --threads 2".
std::string HostDevice::describe() const {
  std::string name = "CPU", line;
  for (std::ifstream info("/proc/cpuinfo"); std::getline(info, line);)
    if (size_t at = line.find(": ");
        line.starts_with("model name") && at != std::string::npos) {
      name = line.substr(at + 2);
      break;
    }
  return format("%s, %s, --threads %d", name.c_str(),
                hostGemmKernels().front()->name, matmul.threads().most());
}
