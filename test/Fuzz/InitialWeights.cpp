//===- InitialWeights.cpp - fuzzes the compiler's safetensors reader ------===//

#include "dtc/Frontend/InitialWeights.h"
#include "InputFile.h"
#include "llvm/Support/raw_ostream.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  dtc::test::InputFile file(data, size);
  dtc::ParameterTable table;
  for (const char *name : {"a", "b.c"}) {
    dtc::Parameter &parameter = table.parameters.emplace_back();
    parameter.name = name;
    parameter.shape = {2, 3};
  }
  llvm::Expected<dtc::InitialWeights> weights =
      dtc::loadInitialWeights(file.getPath(), table);
  if (weights) // reads all elements
    dtc::writeSafetensors(llvm::nulls(), table);
  else
    llvm::consumeError(weights.takeError());
  return 0;
}
