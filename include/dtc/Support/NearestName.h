//===- NearestName.h - the nearest of some names ----------------*- C++ -*-===//
//
// For messages about unknown options.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_SUPPORT_NEARESTNAME_H
#define DTC_SUPPORT_NEARESTNAME_H

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace dtc {

/// The Levenshtein distance: the number of characters to insert, remove or
/// replace.
inline size_t getEditDistance(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1); // distances to prefixes of `to`
  for (size_t j = 0; j <= to.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min(
          {above + 1, row[j - 1] + 1, diagonal + (from[i - 1] != to[j - 1])});
      diagonal = above;
    }
  }
  return row[to.size()];
}

/// The name in `names` with the smallest distance to `name`; of several, the
/// first in the alphabet. Empty if each differs in more than a third of its
/// characters.
inline std::string findNearestName(std::string_view name,
                                   const std::vector<std::string> &names) {
  std::pair<size_t, std::string> nearest = {name.size() / 3 + 1, ""};
  for (const std::string &candidate : names)
    nearest = std::min(nearest, {getEditDistance(name, candidate), candidate});
  return nearest.second;
}

} // namespace dtc

#endif // DTC_SUPPORT_NEARESTNAME_H
