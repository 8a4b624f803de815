//===- Epochs.h - numbers of steps that are given in epochs -----*- C++ -*-===//
//
// The command line is read before the data are opened, which say how many steps
// an epoch has. So options that count epochs are kept as they are until then.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_OPTIONS_EPOCHS_H
#define DTC_LIB_RUNTIME_OPTIONS_EPOCHS_H

#include "Options.h"

namespace dtc::rt {

/// A number above 0; nothing if the text is none.
std::optional<double> parseEpochs(const std::string &text);

/// The number of "1e" or "0.5e"; nothing if the text does not end with 'e'.
/// Throws an Error if it does and has no number.
std::optional<double> parseEpochUnit(const std::string &text);

/// Turns epochs into whole steps, at least one, and checks what depends on the
/// number of --steps. `stepsPerEpoch` is 0 for data without an end. Throws an
/// Error. May be called again.
void settleSteps(Options &options, int64_t stepsPerEpoch);

/// "2 epochs of 63 steps"; empty without --epochs. After `settleSteps`.
std::string describeEpochs(const Options &options);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_OPTIONS_EPOCHS_H
