//===- Schedule.cpp - fuzzes --schedule FILE ------------------------------===//

#include "InputFile.h"
#include "dtc/Schedule/Order/ScheduleFile.h"
#include "dtc/Schedule/Order/Simulation.h"
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  dtc::test::InputFile file(data, size);
  dtc::Pipeline pipeline{/*numStages=*/2, /*numMicrobatches=*/2};
  llvm::Expected<dtc::PipelineSchedule> schedule =
      dtc::readScheduleFile(file.getPath(), pipeline);
  if (!schedule) {
    llvm::consumeError(schedule.takeError());
    return 0;
  }
  // A schedule without an error can run.
  dtc::StageCost cost{1, 1, 1};
  if (!dtc::simulate(*schedule, {cost, cost}))
    abort();
  return 0;
}
