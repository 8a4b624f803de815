//===- Safetensors.cpp - fuzzes the runtime's safetensors reader ----------===//

#include "Checkpoint/Safetensors.h"
#include "Core/Error.h"
#include <cstdlib>

using namespace dtc::rt;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *begin = reinterpret_cast<const char *>(data);
  try {
    SafetensorsReader reader("input", {begin, size});
    for (const auto &[name, tensor] : reader.tensors()) {
      // All elements are there.
      size_t bytes = elementCount(tensor.shape) * sizeOf(tensor.dtype);
      if (tensor.data < begin || bytes > size_t(begin + size - tensor.data))
        abort();
    }
  } catch (const Error &) {
  }
  return 0;
}
