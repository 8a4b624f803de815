//===- Version.cpp - the version that --version prints --------------------===//

#include "dtc/Support/Version.h"

const char *dtc::getVersion() { return DTC_VERSION; }
