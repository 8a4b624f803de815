//===- Entropy.h - random numbers of the system -----------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_CORE_ENTROPY_H
#define DTC_LIB_RUNTIME_CORE_ENTROPY_H

#include <cstdint>

namespace dtc::rt {

/// A random number of the system.
uint64_t drawEntropy();

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CORE_ENTROPY_H
