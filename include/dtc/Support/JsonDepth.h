//===- JsonDepth.h - limit of nesting in JSON -------------------*- C++ -*-===//
//
// For compiler and runtime. Their JSON parsers and destructors may recurse, and
// a file of brackets must not overflow the stack.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SUPPORT_JSONDEPTH_H
#define DTC_SUPPORT_JSONDEPTH_H

#include <string_view>

namespace dtc {

/// JSON that dtc reads and writes nests less than ten deep.
constexpr int maxJsonDepth = 64;

/// Whether arrays and objects nest deeper than `maxJsonDepth`. The text may be
/// invalid JSON.
inline bool isJsonTooDeep(std::string_view text) {
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString && c == '\\')
      ++i;
    else if (c == '"')
      inString = !inString;
    else if (!inString && (c == '[' || c == '{') && ++depth > maxJsonDepth)
      return true;
    else if (!inString && (c == ']' || c == '}'))
      --depth;
  }
  return false;
}

} // namespace dtc

#endif // DTC_SUPPORT_JSONDEPTH_H
