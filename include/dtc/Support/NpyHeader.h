//===- NpyHeader.h - what an .npy file holds --------------------*- C++ -*-===//
//
// For compiler and runtime: without LLVM and without exceptions. The format is
// numpy.lib.format's: magic, version, length of the header, the header (a
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
  size_t start = 0; ///< of the elements, which are all there
};

/// Reads the header of a file's bytes. Returns what is wrong with the file, as
/// what follows its name ("is truncated: ..."); empty if nothing is.
std::string parseNpyHeader(std::string_view bytes, NpyHeader &header);

} // namespace dtc

#endif // DTC_SUPPORT_NPYHEADER_H
