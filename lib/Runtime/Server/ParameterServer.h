//===- ParameterServer.h - training through a server ------------*- C++ -*-===//
//
// The ranks at position 0 of the workers' axis are the server. Each has the
// parameters and states of the ranks of workers that differ from it in this
// coordinate alone, and sends parameters to and gets gradients from these only.
// Rank 0 decides in which order shares are given and gradients applied, and
// tells the server's other ranks. So they all run the same programs in the same
// order, and a worker's ranks compute the same share.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_SERVER_PARAMETERSERVER_H
#define DTC_LIB_RUNTIME_SERVER_PARAMETERSERVER_H

#include "Arrivals.h"
#include "Checkpoint/Shards.h"
#include "Device/Arena.h"
#include "Options/Options.h"
#include "Program/Context.h"

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>

namespace dtc::rt {

/// A step of which all shares are applied, as are those of all steps before:
/// means over its shares.
struct ServedStep {
  int64_t step;
  double loss, gradientNorm, staleness;
  double seconds; ///< since the step before
};

class ParameterServer {
public:
  /// A worker computes a share, and returns its loss and its gradient's norm.
  struct Computed {
    double loss, gradientNorm;
  };
  /// The number of an update, from 1, and its learning rate.
  struct Update {
    int64_t number;
    double learningRate;
  };
  struct Callbacks {
    std::function<Computed(const Share &)> compute;
    /// A worker begins to get parameters, or has pushed.
    std::function<void(int64_t step, bool begin)> observe;
    /// A rank of the server updates by what was pushed to it.
    std::function<void(const Update &)> apply;
    /// Rank 0 has applied all shares of a step.
    std::function<void(const ServedStep &)> report;
  };

  ParameterServer(const dtc_context &context, Arena &arena,
                  const Options &options, Callbacks callbacks);

  /// Continues after this number of updates. Opens the files of
  /// --record-arrivals and --replay-arrivals, on rank 0. Throws an Error if it
  /// cannot.
  void start(int64_t firstStep, int64_t updatesBefore);
  /// The number of updates, on ranks of the server.
  int64_t countUpdates() const { return updates; }

  /// Trains steps `first` to `last`. Then all ranks have the server's
  /// parameters and states. Returns the last step, which is an earlier one if
  /// rank 0, or the first rank of a worker, was asked to stop, or if a loss or
  /// norm is no number while this stops the training: then this gradient is not
  /// applied, and its share is reported as the last step. All ranks call this.
  int64_t run(int64_t first, int64_t last);

private:
  enum class Kind : int64_t { give, apply, drop, end };
  /// From rank 0 to the server's other ranks, and from a server to a worker.
  struct Order {
    Kind kind;
    Share share;
    int64_t worker;
  };
  /// From the first rank of a worker to rank 0, before what it pushes.
  struct Push {
    Share share;
    Computed computed;
    int64_t wantsStop; ///< whether this worker was asked to stop
  };
  /// The shares of a step that are applied, or their sums.
  struct Sums {
    int64_t shares = 0;
    double loss = 0, gradientNorm = 0, staleness = 0;
  };

  /// The state of rank 0 between two calls of `run`.
  struct Segment;

  int rankOf(int64_t position) const;
  void send(int rank, const std::vector<KeptPiece> &pieces);
  void receive(int rank, const std::vector<KeptPiece> &pieces);
  int64_t work();
  int64_t follow();
  void carryOut(const Order &order);
  void apply(const Order &order);
  int64_t lead(int64_t first, int64_t last);
  Arrival chooseNext(Segment &segment);
  Arrival replayNext(Segment &segment);
  void waitForPush(Segment &segment);
  void tellAll(const Order &order);
  void give(Segment &segment, const Arrival &arrival);
  void take(Segment &segment, const Share &share);
  void add(const Share &share, const Computed &computed, int64_t staleness);
  void reportSteps();
  double secondsSinceReport();

  const dtc_context &context;
  Arena &arena;
  const Options &options;
  Callbacks callbacks;
  ServerInfo rules;
  int64_t workers;  ///< their positions on the axis are 1 to `workers`
  int64_t position; ///< of this rank on the axis; 0: the server
  std::vector<KeptPiece> kept;
  std::vector<KeptPiece> parameters; ///< that change
  std::vector<KeptPiece> pushed;
  std::vector<char> buffer;
  std::vector<int> followers;   ///< the server's ranks but 0
  std::vector<int> leaders;     ///< the first rank of each worker, of rank 0
  int64_t updates = 0;          ///< since step 1
  std::vector<int64_t> givenAt; ///< `updates` when a worker got its share
  // The rest is used by rank 0:
  ArrivalFile record;
  std::deque<Arrival> replayed;
  std::string replayPath;
  std::map<int64_t, Sums> steps; ///< that are not yet reported
  int64_t nextStep = 1;          ///< to report
  std::chrono::steady_clock::time_point lastReport;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_SERVER_PARAMETERSERVER_H
