//===- NoAllocationCounter.cpp - for programs that nobody watches ---------===//

#include "AllocationCounter.h"

void countAllocations(bool) {}
