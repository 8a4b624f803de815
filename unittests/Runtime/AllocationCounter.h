//===- AllocationCounter.h - no allocation in a step ------------*- C++ -*-===//

#ifndef DTC_UNITTESTS_RUNTIME_ALLOCATIONCOUNTER_H
#define DTC_UNITTESTS_RUNTIME_ALLOCATIONCOUNTER_H

/// Calls of the malloc family and of mmap are counted while this is on. When
/// it goes off, and there was one, the program ends with status 3.
void countAllocations(bool on);

#endif // DTC_UNITTESTS_RUNTIME_ALLOCATIONCOUNTER_H
