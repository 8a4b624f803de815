//===- Topology.cpp - fuzzes --topology FILE.json -------------------------===//

#include "dtc/Report/Topology.h"
#include "InputFile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  dtc::test::InputFile file(data, size);
  llvm::Expected<dtc::Topology> topology = dtc::Topology::read(file.getPath());
  if (topology)
    topology->getCollectiveSeconds(dtc::CollectiveKind::AllReduce, {0, 1, 2, 3},
                                   1, 1024);
  else
    llvm::consumeError(topology.takeError());
  return 0;
}
