//===- Npy.h - NumPy's array file, memory-mapped ----------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DATA_NPY_H
#define DTC_LIB_RUNTIME_DATA_NPY_H

#include "Core/Elements.h"
#include "Core/MappedFile.h"

namespace dtc::rt {

/// A C-ordered, little-endian array of numbers. Throws on every other file,
/// saying what it is.
class Npy {
public:
  explicit Npy(std::string path);

  const std::string &path() const { return name; }
  dtc_dtype dtype() const { return type; }
  /// As in the file: "<f4".
  const std::string &descr() const { return description; }
  const std::vector<int64_t> &shape() const { return dimensions; }
  const char *data() const { return elements; }

private:
  void parseHeader(const std::string &header);

  std::string name;
  MappedFile file;
  dtc_dtype type;
  std::string description;
  std::vector<int64_t> dimensions;
  const char *elements;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DATA_NPY_H
