//===- MaxElements.h - limit of a tensor's size -----------------*- C++ -*-===//

#ifndef DTC_SUPPORT_MAXELEMENTS_H
#define DTC_SUPPORT_MAXELEMENTS_H

#include <cstdint>

namespace dtc {

/// The largest number of elements of a tensor. Its bytes, and sums and small
/// multiples of them, stay below 2^63.
constexpr int64_t maxElements = int64_t(1) << 48;

} // namespace dtc

#endif // DTC_SUPPORT_MAXELEMENTS_H
