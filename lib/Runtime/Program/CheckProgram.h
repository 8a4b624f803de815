//===- CheckProgram.h - consistency of a manifest ---------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_PROGRAM_CHECKPROGRAM_H
#define DTC_LIB_RUNTIME_PROGRAM_CHECKPROGRAM_H

#include "Program.h"

namespace dtc::rt {

/// Throws an Error unless the parts of the program fit together, and all
/// buffers lie in their arenas. `numStages` is the number of step functions.
void checkProgram(const Program &program, uint32_t numStages);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_PROGRAM_CHECKPROGRAM_H
