//===- Npy.cpp - NumPy's array file, memory-mapped ------------------------===//

#include "Npy.h"

#include "Core/Error.h"

using namespace dtc::rt;

Npy::Npy(std::string path) : name(std::move(path)), file(name) {
  std::string error = parseNpyHeader(file.bytes(), header);
  if (!error.empty())
    fail("'%s' %s", name.c_str(), error.c_str());
}
