//===- Outputs.h - the files and folders that rank 0 writes -----*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_OUTPUTS_H
#define DTC_LIB_RUNTIME_TRAINING_OUTPUTS_H

#include "Options/Options.h"
#include "System/OutputLock.h"

namespace dtc::rt {

/// Locks all outputs that the options name, for as long as `outputs` lives.
/// Creates missing folders. Throws an Error if two outputs are one file, if
/// another job has one, or if one would overwrite the program, its weights,
/// data, or a part of a checkpoint.
void lockOutputs(const Program &program, const Options &options,
                 OutputLock &outputs);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_OUTPUTS_H
