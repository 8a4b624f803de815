//===- Epochs.h - numbers of steps that are given in epochs -----*- C++ -*-===//
//
// The command line is read before the data, which determine the steps of an
// epoch. Options keep their number of epochs until then.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_OPTIONS_EPOCHS_H
#define DTC_LIB_RUNTIME_OPTIONS_EPOCHS_H

#include "Options.h"

namespace dtc::rt {

/// Parses a number above 0; empty for other text.
std::optional<double> parseEpochs(const std::string &text);

/// Parses the number of "1e" or "0.5e"; empty if the text does not end with
/// 'e'. Throws an Error if the text before 'e' is not a number.
std::optional<double> parseEpochUnit(const std::string &text);

/// Turns epochs into whole steps, at least one, and checks what depends on the
/// number of --steps. `stepsPerEpoch` is 0 for data without an end. Throws an
/// Error. May be called again.
void settleSteps(Options &options, int64_t stepsPerEpoch);

/// "2 epochs of 63 steps"; empty without --epochs. After `settleSteps`.
std::string describeEpochs(const Options &options);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_OPTIONS_EPOCHS_H
