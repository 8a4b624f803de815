//===- FormatShape.h - shapes in messages -----------------------*- C++ -*-===//

#ifndef DTC_SUPPORT_FORMATSHAPE_H
#define DTC_SUPPORT_FORMATSHAPE_H

#include <cstdint>
#include <string>
#include <vector>

namespace dtc {

/// The shape as text, such as "[2, 3]".
inline std::string formatShape(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (int64_t size : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

} // namespace dtc

#endif // DTC_SUPPORT_FORMATSHAPE_H
