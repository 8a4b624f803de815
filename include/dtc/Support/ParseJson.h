//===- ParseJson.h - JSON of files that users name --------------*- C++ -*-===//

#ifndef DTC_SUPPORT_PARSEJSON_H
#define DTC_SUPPORT_PARSEJSON_H

#include "dtc/Support/JsonDepth.h"
#include "llvm/Support/JSON.h"

namespace dtc {

/// Parses JSON of limited depth.
inline llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text) {
  if (isJsonTooDeep(text))
    return llvm::createStringError("nests deeper than " +
                                   llvm::Twine(maxJsonDepth) +
                                   " arrays and objects");
  return llvm::json::parse(text);
}

} // namespace dtc

#endif // DTC_SUPPORT_PARSEJSON_H
