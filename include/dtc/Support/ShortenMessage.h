//===- ShortenMessage.h - messages that fit on a screen ---------*- C++ -*-===//

#ifndef DTC_SUPPORT_SHORTENMESSAGE_H
#define DTC_SUPPORT_SHORTENMESSAGE_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace dtc {

/// The message, or its first 2 KB and the number of bytes left out. Names of
/// files and tensors may have any length.
inline std::string shortenMessage(llvm::StringRef text) {
  constexpr size_t longest = 2048;
  if (text.size() <= longest)
    return text.str();
  size_t end = longest;
  while (end > 0 && (text[end] & 0xc0) == 0x80) // within a UTF-8 character
    --end;
  return text.take_front(end).str() + " ... (" +
         std::to_string(text.size() - end) + " more bytes)";
}

} // namespace dtc

#endif // DTC_SUPPORT_SHORTENMESSAGE_H
