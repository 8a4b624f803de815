//===- Names.h - names of classes and columns -------------------*- C++ -*-===//
//
// The names of classes and columns, in the order of their numbers, are files
// beside the arrays: classes.txt and columns.txt, a name per line. `--like DIR`
// reads those of an earlier conversion.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TOOLS_DTC_DATA_NAMES_H
#define DTC_TOOLS_DTC_DATA_NAMES_H

#include "Output.h"

#include <map>

namespace dtc::data {

/// Names with numbers from 0 on.
class Names {
public:
  Names() = default;
  explicit Names(std::vector<std::string> names);
  /// Reads a file that `write` wrote. Throws if there is none.
  static Names read(const std::string &path);

  /// Throws if a name has a newline.
  void write(const OutputFolder &folder, const std::string &file) const;

  size_t size() const { return names.size(); }
  const std::vector<std::string> &inOrder() const { return names; }
  /// The number of a name that `source` has. Throws if it is not one of these.
  size_t find(const std::string &name, const std::string &source) const;

private:
  std::string path; ///< empty: not read
  std::vector<std::string> names;
  std::map<std::string, size_t> numbers;
};

} // namespace dtc::data

#endif // DTC_TOOLS_DTC_DATA_NAMES_H
