//===- Manifest.cpp - fuzzes the manifest of a program --------------------===//

#include "Core/Error.h"
#include "Program/Program.h"

using namespace dtc::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  dtc_step_fn step = nullptr;
  try {
    Program program = readProgram({DTC_ABI_VERSION, 1, &step, &step, &step,
                                   reinterpret_cast<const char *>(data), size});
    program.describe();
    program.setRanks(6 * program.mesh.size());
    program.mesh.describeRank(program.mesh.size() - 1);
  } catch (const Error &) {
    return 0;
  }
  return 0;
}
