//===- ByteRange.h - a part of a rank's memory ------------------*- C++ -*-===//

#ifndef DTC_LIB_MEMORY_BYTERANGE_H
#define DTC_LIB_MEMORY_BYTERANGE_H

#include <cstdint>

namespace dtc {

struct ByteRange {
  int64_t begin, end;
};

} // namespace dtc

#endif // DTC_LIB_MEMORY_BYTERANGE_H
