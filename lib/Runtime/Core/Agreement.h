//===- Agreement.h - what all ranks must be given alike ---------*- C++ -*-===//
//
// Ranks that were started with different options would train something that
// nobody asked for, or wait for each other for ever. So they compare what they
// were given before the first step.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_CORE_AGREEMENT_H
#define DTC_LIB_RUNTIME_CORE_AGREEMENT_H

#include "Options.h"

namespace CLI {
class App;
} // namespace CLI

namespace dtc::rt {

class Collectives;

/// The options of the command line in a form in which two ranks may be
/// compared: "--lr" and "0.01", by name; "" for an option that is not given.
/// What may differ is left out or is the same on all ranks.
GivenOptions comparableOptions(const CLI::App &app);

/// Throws the same Error on all ranks if some were given other options, or are
/// another program, than rank 0: it names the lowest of them and what differs.
/// Met by all ranks.
void expectAgreement(const Program &program, const Options &options,
                     Collectives &collectives);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CORE_AGREEMENT_H
