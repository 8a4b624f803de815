//===- Machine.h - the machine that a process is on -------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_SYSTEM_MACHINE_H
#define DTC_LIB_RUNTIME_SYSTEM_MACHINE_H

#include <string>

namespace dtc::rt {

/// Lines of a name and a value: system, processor, memory, limits.
std::string describeMachine();

/// An identifier that differs between machines, and between starts of a
/// machine.
std::string bootId();

/// Cores that each of `localRanks` ranks on this machine may use.
int coresPerRank(int localRanks);

/// The file that a function is in: "/usr/lib/libcuda.so.1".
std::string fileOf(const void *function);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_SYSTEM_MACHINE_H
