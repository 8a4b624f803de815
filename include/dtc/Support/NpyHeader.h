//===- NpyHeader.h - header of a .npy file ----------------------*- C++ -*-===//
//
// For compiler and runtime, so without LLVM and exceptions. The format is that
// of numpy.lib.format: magic, version, length of the header, the header (a
// Python dictionary), the elements.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SUPPORT_NPYHEADER_H
#define DTC_SUPPORT_NPYHEADER_H

#include "dtc/Support/ElementType.h"

#include <string>
#include <string_view>
#include <vector>

namespace dtc {

/// A C-ordered, little-endian array of numbers.
struct NpyHeader {
  const ElementType *type = nullptr;
  std::string descr; ///< as in the file: "<f4"
  std::vector<int64_t> shape;
  size_t start = 0; ///< byte offset of the elements
};

/// Reads the header of a file's bytes, and checks that all elements are
/// present. Returns an empty string, or an error that follows the file's name,
/// such as "is truncated: ...".
std::string parseNpyHeader(std::string_view bytes, NpyHeader &header);

} // namespace dtc

#endif // DTC_SUPPORT_NPYHEADER_H
