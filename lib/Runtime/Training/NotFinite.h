//===- NotFinite.h - why a loss is no number --------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_TRAINING_NOTFINITE_H
#define DTC_LIB_RUNTIME_TRAINING_NOTFINITE_H

#include "Data/Source.h"
#include "Program/Context.h"

namespace dtc::rt {

/// What may have made the loss or the gradient's norm of a step NaN or
/// infinite: what is found in the data of its global batch, else what the
/// number of the step, from 1, says of the learning rate. One clause, for a
/// warning.
std::string explainNotFinite(const Program &program, DataSource &source,
                             int64_t step);

/// The first gradient of this rank with a NaN or an infinity, as a clause;
/// empty if all are numbers. Of the last step; nothing has run since.
std::string findNotFiniteGradient(const dtc_context &context,
                                  const Arena &arena);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_TRAINING_NOTFINITE_H
