//===- Npy.h - arrays in files, memory-mapped -------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DATA_NPY_H
#define DTC_LIB_RUNTIME_DATA_NPY_H

#include "Core/Elements.h"
#include "System/MappedFile.h"
#include "dtc/Support/NpyHeader.h"

namespace dtc::rt {

/// A C-ordered, little-endian array of numbers.
class Npy {
public:
  /// Opens a file in NumPy's format. Throws an Error that describes any other
  /// file.
  explicit Npy(std::string path);
  /// Opens raw numbers of a type, as an array of one dimension. Throws an Error
  /// if the file ends within a number.
  Npy(std::string path, dtc_dtype type);

  const std::string &path() const { return name; }
  dtc_dtype dtype() const { return header.type->code; }
  /// As in the file: "<f4".
  const std::string &descr() const { return header.descr; }
  const std::vector<int64_t> &shape() const { return header.shape; }
  const char *data() const { return file.bytes().data() + header.start; }
  /// All bytes of the file, its header included.
  std::string_view bytes() const { return file.bytes(); }
  /// Tells the system that these bytes of `data()` are read soon.
  void willNeed(size_t start, size_t count) const {
    file.willNeed(header.start + start, count);
  }

private:
  std::string name;
  MappedFile file;
  NpyHeader header;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DATA_NPY_H
