//===- Npy.h - NumPy's array file, memory-mapped ----------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DATA_NPY_H
#define DTC_LIB_RUNTIME_DATA_NPY_H

#include "Core/Elements.h"
#include "Core/MappedFile.h"
#include "dtc/Support/NpyHeader.h"

namespace dtc::rt {

/// A C-ordered, little-endian array of numbers. Throws on every other file,
/// saying what it is.
class Npy {
public:
  explicit Npy(std::string path);

  const std::string &path() const { return name; }
  dtc_dtype dtype() const { return header.type->code; }
  /// As in the file: "<f4".
  const std::string &descr() const { return header.descr; }
  const std::vector<int64_t> &shape() const { return header.shape; }
  const char *data() const { return file.bytes().data() + header.start; }

private:
  std::string name;
  MappedFile file;
  NpyHeader header;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DATA_NPY_H
