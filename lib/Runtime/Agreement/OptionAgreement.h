//===- OptionAgreement.h - options alike on all ranks -----------*- C++ -*-===//
//
// Ranks with different options would train something that nobody asked for, or
// wait for each other for ever. So ranks compare their options before the first
// step.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_AGREEMENT_OPTIONAGREEMENT_H
#define DTC_LIB_RUNTIME_AGREEMENT_OPTIONAGREEMENT_H

#include "Options/Options.h"

namespace dtc::rt {

class Collectives;

/// Throws the same Error on all ranks if a rank has other options than rank 0,
/// or is another program. The error names the lowest such rank and the
/// difference. All ranks call this.
void expectAgreement(const Program &program, const Options &options,
                     Collectives &collectives);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_AGREEMENT_OPTIONAGREEMENT_H
