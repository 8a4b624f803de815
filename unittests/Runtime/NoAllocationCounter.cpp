//===- NoAllocationCounter.cpp - for programs that are not measured -------===//

#include "AllocationCounter.h"

void countAllocations(bool) {}
