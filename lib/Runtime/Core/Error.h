//===- Error.h - one-line errors of the training program --------*- C++ -*-===//
//
// Setup and saving throw `Error`, which the program prints as one line. Calls
// inside a step do not throw: see Fatal.h.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_CORE_ERROR_H
#define DTC_LIB_RUNTIME_CORE_ERROR_H

#include "dtc/Support/FormatShape.h"
#include <stdexcept>

#include <string>
#include <vector>

namespace dtc::rt {

using dtc::formatShape;

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string format(const char *pattern, ...);

/// Throws an Error with a formatted message: what was found, what was
/// expected, what to do.
[[noreturn, gnu::format(printf, 1, 2)]] void fail(const char *pattern, ...);

/// The prefix of lines about this process: "t: rank 1 (dp 1): ". Signal
/// handlers may read it.
void setLinePrefix(std::string prefix);
const char *linePrefix();

/// "1.5 GiB", for messages.
std::string formatBytes(double bytes);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CORE_ERROR_H
