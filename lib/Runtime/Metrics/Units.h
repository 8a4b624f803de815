//===- Units.h - numbers for people -----------------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_METRICS_UNITS_H
#define DTC_LIB_RUNTIME_METRICS_UNITS_H

#include <string>

namespace dtc::rt {

// Texts are so short that they need no allocation.

/// "999", "1.23k", "45.6M": three digits, with `space` before the unit.
std::string formatCount(double value, const char *space = "");

/// "207.1 ms", "31.20 us": four digits, as wide as "999.9 us".
std::string formatTime(double seconds);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_METRICS_UNITS_H
