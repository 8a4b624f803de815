//===- Grid.h - device functions run by the host ----------------*- C++ -*-===//

#ifndef DTC_TEST_STANDINS_GRID_H
#define DTC_TEST_STANDINS_GRID_H

#include "dtc/Runtime/DeviceABI.h"

namespace dtc::standin {

/// Iterations of loops, of the thread that has most and of all threads.
struct GridWork {
  uint64_t longest = 0, total = 0;
};

/// Runs all threads of a grid: block after block, in an order that `seed`
/// chooses. The threads of a block take turns where they meet; a function that
/// meets nowhere is called for one after the other. Ends the process with a
/// message if some threads of a block wait for others that never come.
GridWork runGrid(const dtc_device_function &function, int64_t blocks,
                 int32_t threads, char *const *arguments, uint64_t seed);

} // namespace dtc::standin

#endif // DTC_TEST_STANDINS_GRID_H
