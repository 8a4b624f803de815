//===- NotFinite.h - why a loss is no number --------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_NOTFINITE_H
#define DTC_LIB_RUNTIME_TRAINING_NOTFINITE_H

#include "Data/Source.h"
#include "Program/Context.h"

namespace dtc::rt {

/// Explains why the loss or the gradient norm of a step is NaN or infinite: by
/// the data of its global batch, else by the learning rate of the step, which
/// counts from 1. Returns one clause, for a warning.
std::string explainNotFinite(const Program &program, DataSource &source,
                             int64_t step);

/// Describes the first gradient of this rank with a NaN or an infinity; empty
/// if there is none. Reads the gradients of the last step, after which nothing
/// must have run.
std::string findNotFiniteGradient(const dtc_context &context,
                                  const Arena &arena);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_NOTFINITE_H
