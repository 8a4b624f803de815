//===- DeviceClock.cpp - times of what a device does ----------------------===//

#include "DeviceClock.h"

#include <chrono>

using namespace dtc::rt;

int64_t dtc::rt::hostTime() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
