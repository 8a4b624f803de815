//===- SearchProgress.h - progress of a long search -------------*- C++ -*-===//

#ifndef DTC_LIB_DRIVER_SEARCHPROGRESS_H
#define DTC_LIB_DRIVER_SEARCHPROGRESS_H

#include <cstddef>
#include <string>

namespace dtc {

/// During its lifetime, shows the number of plans tried as a line on standard
/// error, if that is a terminal. A signal that ends the program prints
/// `interrupted` first. Only one object may exist at a time.
class SearchProgress {
public:
  /// `total` is the maximal number of plans. `interrupted` is the one-line
  /// error that a signal prints.
  SearchProgress(size_t total, const std::string &interrupted);
  /// Removes the line.
  ~SearchProgress();
  SearchProgress(const SearchProgress &) = delete;

  /// Must be called before each plan.
  void begin();

private:
  size_t total, count = 0;
  bool isShown;
};

} // namespace dtc

#endif // DTC_LIB_DRIVER_SEARCHPROGRESS_H
