//===- Profile.cpp - fuzzes --profile TRACE.json --------------------------===//

#include "dtc/Report/Profile.h"
#include "InputFile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  dtc::test::InputFile file(data, size);
  llvm::Expected<dtc::Profile> profile = dtc::Profile::read(file.getPath());
  if (!profile)
    llvm::consumeError(profile.takeError());
  return 0;
}
