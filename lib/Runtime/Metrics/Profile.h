//===- Profile.h - the time of a step, by cause -----------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_METRICS_PROFILE_H
#define DTC_LIB_RUNTIME_METRICS_PROFILE_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dtc::rt {

/// Sums up what ranks did in some steps, as a table for people.
class Profile {
public:
  enum class Kind {
    compute,     ///< the rank works
    communicate, ///< the rank does nothing else
    inFlight,    ///< goes on beside the two
  };

  /// `ranks`: how each is called.
  Profile(std::vector<std::string> ranks, int64_t steps)
      : names(std::move(ranks)), steps(steps), times(names.size()) {}

  /// An event of a rank; `bytes` is 0 if it moves none.
  void add(int rank, const std::string &name, Kind kind, double seconds,
           int64_t bytes);
  /// From the begin of a step to its end.
  void addStep(int rank, double seconds) { times[rank].step += seconds; }

  /// A row for each name, means over ranks and steps; then a line of the rank
  /// that computes longest.
  std::string describe() const;
  /// The mean time of a step, over ranks.
  double stepSeconds() const;
  std::string describeSlowest() const;

private:
  struct Row {
    Kind kind;
    int64_t calls = 0, bytes = 0;
    double seconds = 0;
  };
  struct Times {
    double step = 0, compute = 0, wait = 0;
  };

  std::vector<std::string> names;
  int64_t steps;
  std::map<std::string, Row> rows;
  std::vector<Times> times; ///< by rank, seconds of all steps
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_METRICS_PROFILE_H
