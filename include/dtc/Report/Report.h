//===- Report.h - the figures of a plan -------------------------*- C++ -*-===//
//
// The cost of a scheduled module, computed from its plans so that it matches
// the program, and the time that it takes on a topology.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_REPORT_REPORT_H
#define DTC_REPORT_REPORT_H

#include "dtc/Plan/Ranks.h"
#include "dtc/Report/Profile.h"
#include "dtc/Report/Timeline.h"
#include "dtc/Report/Topology.h"
#include "dtc/Support/Collective.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <string>
#include <vector>

namespace dtc {

/// Formats bytes with three digits and a unit: "12.3 MiB".
std::string formatBytes(int64_t bytes);
/// Formats a time with its unit: "1.23 ms".
std::string formatSeconds(double seconds);
/// Formats a rate with three digits, as programs print it: "0.5", "512",
/// "26.0M".
std::string formatRate(double perSecond);
/// Formats a count and its noun: "1 stage", "2 stages".
std::string formatCount(int64_t number, llvm::StringRef what);

/// Calls of one kind by one rank in a step.
struct Traffic {
  int64_t count = 0;
  int64_t bytes = 0; ///< of this rank's buffers
};

/// Collectives of one kind over the same axes. Reports list them by name.
struct CollectiveClass {
  CollectiveKind kind;
  std::vector<std::string> axes;

  static CollectiveClass get(CollectiveOpInterface op);
  std::string getName() const; ///< "all_reduce dp,tp"
  bool operator<(const CollectiveClass &other) const {
    return getName() < other.getName();
  }
};

/// The collectives of a program between steps, each time that it runs.
struct ProgramTraffic {
  std::string name;
  int64_t period, turn; ///< as `dtc.turn` has them
  std::map<CollectiveClass, Traffic> collectives;
};

/// The work of a rank's GPU in a step, and the bytes that it moves. Each
/// distinct operand is read once, each result written once.
struct DeviceWork {
  int64_t functions = 0; ///< launches of device functions
  int64_t libraryCalls = 0, copies = 0;
  int64_t kernelBytes = 0, libraryBytes = 0, copyBytes = 0;
  /// Lower bound of the bytes: traffic of library calls, and of the update,
  /// which reads and writes parameters and state and reads gradients.
  int64_t fewestBytes = 0;

  int64_t getBytes() const { return kernelBytes + libraryBytes + copyBytes; }
  void add(const DeviceWork &other);
};

/// The memory and work of each rank of a stage in one step.
struct StageReport {
  int64_t parameters = 0; ///< elements of the parameters that it owns

  /// Floating-point operations of a step.
  int64_t forwardFlops = 0, backwardFlops = 0, weightFlops = 0, onceFlops = 0;

  int64_t parameterBytes = 0, stateBytes = 0, gradientBytes = 0;
  int64_t inputBytes = 0;
  int64_t gatheredBytes = 0; ///< parameters that a step gathers and keeps
  /// A worker pushes so many to a server for each share, and pulls as many.
  int64_t pushedBytes = 0;
  /// Activations, messages, and working memory of functions.
  int64_t activationBytes = 0;
  int64_t peakBytes = 0; ///< of the arena
  /// Host memory in bytes: its size, and the traffic of a step.
  int64_t hostBytes = 0, hostReadBytes = 0, hostWrittenBytes = 0;
  /// Device memory outside the arena, set by the caller that knows the target.
  int64_t reservedBytes = 0;
  int64_t getNeededBytes() const { return peakBytes + reservedBytes; }

  std::map<CollectiveClass, Traffic> collectives;
  /// Messages by the other stage.
  std::map<int64_t, Traffic> sends, recvs;
  std::vector<ProgramTraffic> programs; ///< that steps cause

  std::optional<DeviceWork> deviceWork; ///< see Report::addDeviceWork

  int64_t inFlight = 0; ///< most live activations of (micro-batch, chunk) pairs
};

/// Seconds that a step takes a rank on a topology, without waiting.
struct RankTime {
  int64_t rank, stage, node;
  double compute = 0; ///< its FLOPs at the device's full speed
  std::map<CollectiveClass, double> collectives;
  std::map<int64_t, double> sends; ///< by the other stage

  double getCommunication() const;

  static RankTime get(int64_t rank, const Ranks &ranks, const StageReport &does,
                      const Topology &topology);
};

/// Expected duration of a step (docs/Architecture/Report.md).
struct ExpectedTime {
  std::string numbers; ///< number format of products: "bf16", "tf32"
  double seconds;
  double peak; ///< FLOPs per second of one device in products
};

/// A parameter that is padded beyond its size in the model.
struct PaddedParameter {
  std::string name;
  int64_t dim, size, paddedSize;
};

struct Report {
  /// Elements of the model's parameters.
  int64_t parameters = 0;
  std::vector<PaddedParameter> padded;
  /// Largest number of blocks of an attention gradient; 0 if none is divided.
  int64_t attentionBlocks = 0;
  int64_t microbatches = 1;
  int64_t rounds = 1; ///< number of groups of micro-batches
  int64_t ranksPerStage = 1;
  /// Number of kernels of all stages, and of places that launch one. Equal
  /// layers and stages share kernels.
  int64_t kernels = 0, launches = 0;
  /// Idle fraction of the schedule: with equal stages (and equal F, B and W if
  /// it is from a file), and with the timeline's costs.
  double bubble = 0, bubbleSimulated = 0;
  bool isMeasured = false; ///< costs are seconds of a profile, else FLOPs
  Timeline timeline;
  std::vector<StageReport> stages;
  /// Axes of ranks, outermost first, and their sizes.
  std::vector<std::pair<std::string, int64_t>> mesh;
  /// One entry for each rank if there is a topology, else empty.
  std::vector<RankTime> times;
  /// Empty if the topology lacks the memory's speed. Two entries for products
  /// in f32 if the device also has tf32.
  std::vector<ExpectedTime> expected;
  /// FLOPs of the model in a step, by the usual count: three times the products
  /// of the forward pass (arXiv 2204.02311).
  double modelFlops = 0;
  int64_t samples = 0; ///< of a step, over all ranks
  int64_t tokens = 0;  ///< number of labels if they are sequences, else 0

  int64_t getNumRanks() const { return ranksPerStage * stages.size(); }
  /// Model FLOPs divided by the FLOPs of all devices in the expected time.
  double getUtilization(const ExpectedTime &time) const {
    return modelFlops / (time.seconds * time.peak * getNumRanks());
  }

  /// The rank of each stage that communicates longest; empty without a
  /// topology.
  std::vector<const RankTime *> getSlowestRanks() const;

  /// Computes the report after PlanMemory. `topology` may be null; otherwise it
  /// has one device for each rank. `profile` may be null; otherwise it has the
  /// same number of stages. Fails with a diagnostic if the module is not
  /// scheduled.
  static mlir::FailureOr<Report> compute(mlir::ModuleOp module,
                                         const Topology *topology = nullptr,
                                         const Profile *profile = nullptr);

  /// Adds the GPU work of all stages. `launches` is the number of device
  /// functions that each kernel launches. Fails with a diagnostic if the module
  /// is not the report's.
  mlir::LogicalResult addDeviceWork(mlir::ModuleOp module,
                                    const llvm::StringMap<int64_t> &launches);

  void print(llvm::raw_ostream &os) const;
  llvm::json::Value toJson() const;
};

} // namespace dtc

#endif // DTC_REPORT_REPORT_H
