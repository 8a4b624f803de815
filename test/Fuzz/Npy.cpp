//===- Npy.cpp - fuzzes the header of .npy files --------------------------===//

#include "dtc/Support/NpyHeader.h"
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  dtc::NpyHeader header;
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  if (!dtc::parseNpyHeader(bytes, header).empty())
    return 0;
  // All elements are there.
  size_t needed = header.type->bytes;
  for (int64_t dim : header.shape)
    if (dim < 0 || __builtin_mul_overflow(needed, size_t(dim), &needed))
      abort();
  if (header.start > size || needed > size - header.start)
    abort();
  return 0;
}
