//===- Npy.cpp - arrays in files, memory-mapped ---------------------------===//

#include "Npy.h"

#include "Core/Error.h"

using namespace dtc::rt;

Npy::Npy(std::string path) : name(std::move(path)), file(name) {
  std::string error = parseNpyHeader(file.bytes(), header);
  if (!error.empty())
    fail("'%s' %s", name.c_str(), error.c_str());
}

Npy::Npy(std::string path, dtc_dtype type) : name(std::move(path)), file(name) {
  size_t bytes = file.bytes().size(), size = size_t(sizeOf(type));
  if (bytes % size)
    fail("'%s' has %zu bytes, expected a multiple of %zu: raw %s numbers",
         name.c_str(), bytes, size, nameOf(type));
  header.type = &getElementType(type);
  header.descr = std::string("<") + header.type->npy;
  header.shape = {int64_t(bytes / size)};
}
