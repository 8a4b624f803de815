//===- Version.cpp - the output of --version ------------------------------===//

#include "Version.h"

#include "Core/Error.h"
#include "Device/Device.h"
#include "Program/Program.h"
#include "Target/Target.h"
#include "dtc/Support/Version.h"

using namespace dtc::rt;

std::string dtc::rt::describeVersion(const Program &program) {
  return format("dtc %s, runtime interface %d\n", dtc::getVersion(),
                int(DTC_ABI_VERSION)) +
         format("model   %s (%s)\n", program.model.c_str(),
                program.dtype.c_str()) +
         format("plan    %s, batch %s, %lld micro-batch%s\n",
                program.describeRanks().c_str(),
                program.describeBatch().c_str(),
                (long long)program.microbatches,
                program.microbatches == 1 ? "" : "es") +
         format("target  %s\n", describeTarget().c_str());
}
