//===- OptionAgreement.h - what all ranks must be given alike ---------*- C++
//-*-===//
//
// Ranks that were started with different options would train something that
// nobody asked for, or wait for each other for ever. So they compare what they
// were given before the first step.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_AGREEMENT_OPTIONAGREEMENT_H
#define DTC_LIB_RUNTIME_AGREEMENT_OPTIONAGREEMENT_H

#include "Options/Options.h"

namespace dtc::rt {

class Collectives;

/// Throws the same Error on all ranks if some were given other options, or are
/// another program, than rank 0: it names the lowest of them and what differs.
/// Met by all ranks.
void expectAgreement(const Program &program, const Options &options,
                     Collectives &collectives);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_AGREEMENT_OPTIONAGREEMENT_H
