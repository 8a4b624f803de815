//===- SearchProgress.h - a search that takes its time ----------*- C++ -*-===//

#ifndef DTC_LIB_DRIVER_SEARCHPROGRESS_H
#define DTC_LIB_DRIVER_SEARCHPROGRESS_H

#include <cstddef>
#include <string>

namespace dtc {

/// While it lives: a line on standard error, if that is a terminal, of how many
/// plans were tried; and what ends the program with a signal says so first.
/// There is one at a time.
class SearchProgress {
public:
  /// At most `total` plans are tried. `interrupted` is the error that a signal
  /// prints, one line.
  SearchProgress(size_t total, const std::string &interrupted);
  /// Removes the line.
  ~SearchProgress();
  SearchProgress(const SearchProgress &) = delete;

  /// Before the next plan is tried.
  void begin();

private:
  size_t total, count = 0;
  bool isShown;
};

} // namespace dtc

#endif // DTC_LIB_DRIVER_SEARCHPROGRESS_H
