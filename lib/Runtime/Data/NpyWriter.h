//===- NpyWriter.h - an array that is written row by row --------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DATA_NPYWRITER_H
#define DTC_LIB_RUNTIME_DATA_NPYWRITER_H

#include "dtc/Support/ElementType.h"

#include <cstdio>
#include <string>
#include <vector>

namespace dtc::rt {

/// Writes an .npy file (numpy.lib.format, version 1.0) under a temporary name;
/// `commit` gives it its own. A writer that is destroyed before leaves nothing
/// behind. Throws an Error on any failure.
class NpyWriter {
public:
  NpyWriter(std::string path, dtc_dtype dtype,
            const std::vector<int64_t> &shape);
  ~NpyWriter();
  NpyWriter(const NpyWriter &) = delete;

  /// The next bytes, in row-major order.
  void append(const void *data, int64_t bytes);
  void commit();

private:
  [[noreturn]] void failure(const char *action);

  std::string path, temporary;
  FILE *file = nullptr;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DATA_NPYWRITER_H
