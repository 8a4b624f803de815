//===- Report.h - the figures of a plan -------------------------*- C++ -*-===//
//
// What a scheduled module costs: computed from its plans, so that it is what
// the program does; and what that takes on a topology.
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

/// Three digits and a unit: "12.3 MiB".
std::string formatBytes(int64_t bytes);
/// "1.23 ms".
std::string formatSeconds(double seconds);
/// Three digits as programs print them: "0.5", "512", "26.0M".
std::string formatRate(double perSecond);
/// "1 stage", "2 stages".
std::string formatCount(int64_t number, llvm::StringRef what);

/// Calls of one kind in a step, by one rank.
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

/// What a rank puts on its GPU in a step, and the bytes that this moves:
/// distinct operands are read once, results written once.
struct DeviceWork {
  int64_t functions = 0; ///< launches of device functions
  int64_t libraryCalls = 0, copies = 0;
  int64_t kernelBytes = 0, libraryBytes = 0, copyBytes = 0;
  /// What would be left if all but library calls and the update moved nothing:
  /// what the former move, and for the latter parameters and state read and
  /// written, gradients read.
  int64_t fewestBytes = 0;

  int64_t getBytes() const { return kernelBytes + libraryBytes + copyBytes; }
  void add(const DeviceWork &other);
};

/// What each rank of a stage holds, and does in a step.
struct StageReport {
  int64_t parameters = 0; ///< elements of the parameters that it owns

  /// Floating-point operations of a step.
  int64_t forwardFlops = 0, backwardFlops = 0, weightFlops = 0, onceFlops = 0;

  int64_t parameterBytes = 0, stateBytes = 0, gradientBytes = 0;
  int64_t inputBytes = 0;
  int64_t gatheredBytes = 0; ///< parameters that a step gathers and keeps
  /// Activations, messages, and what functions work in.
  int64_t activationBytes = 0;
  int64_t peakBytes = 0; ///< of the arena
  /// Of the host: what lies there, and what a step reads and writes of it.
  int64_t hostBytes = 0, hostReadBytes = 0, hostWrittenBytes = 0;
  /// Of the device, beside the arena: set by who knows the target.
  int64_t reservedBytes = 0;
  int64_t getNeededBytes() const { return peakBytes + reservedBytes; }

  std::map<CollectiveClass, Traffic> collectives;
  /// Messages by the other stage.
  std::map<int64_t, Traffic> sends, recvs;

  std::optional<DeviceWork> deviceWork; ///< see Report::addDeviceWork

  int64_t inFlight = 0; ///< most live activations: of micro-batch and chunk
};

/// Seconds that a step takes a rank on a topology, waiting left out.
struct RankTime {
  int64_t rank, stage, node;
  double compute = 0; ///< its FLOPs at the device's full speed
  std::map<CollectiveClass, double> collectives;
  std::map<int64_t, double> sends; ///< by the other stage

  double getCommunication() const;

  static RankTime get(int64_t rank, const Ranks &ranks, const StageReport &does,
                      const Topology &topology);
};

/// How long a step is expected to take (docs/Architecture/Report.md).
struct ExpectedTime {
  std::string numbers; ///< that products are computed in: "bf16", "tf32"
  double seconds;
  double peak; ///< products of one device, in FLOPs per second
};

/// A parameter that is larger than what the model has of it.
struct PaddedParameter {
  std::string name;
  int64_t dim, size, paddedSize;
};

struct Report {
  /// Elements of the model's parameters.
  int64_t parameters = 0;
  std::vector<PaddedParameter> padded;
  /// Blocks of the attention gradient that has most; 0 if none is divided.
  int64_t attentionBlocks = 0;
  int64_t microbatches = 1;
  int64_t rounds = 1; ///< that the micro-batches are taken in
  int64_t ranksPerStage = 1;
  /// Kernels of all stages, and how many times functions launch one: equal
  /// layers and stages share theirs.
  int64_t kernels = 0, launches = 0;
  /// The schedule's idle fraction with equal stages (F, B and W also equal, if
  /// it is from a file), and with the timeline's costs.
  double bubble = 0, bubbleSimulated = 0;
  bool isMeasured = false; ///< costs are a profile's seconds, else FLOPs
  Timeline timeline;
  std::vector<StageReport> stages;
  /// Axes of ranks, outermost first, and their sizes.
  std::vector<std::pair<std::string, int64_t>> mesh;
  /// One for each rank, if there is a topology.
  std::vector<RankTime> times;
  /// None if the topology does not say how fast memory is; two for products in
  /// f32 where a device also has tf32.
  std::vector<ExpectedTime> expected;
  /// FLOPs that the model asks for in a step, as the field counts them: three
  /// times the products of the forward pass.
  double modelFlops = 0;
  int64_t samples = 0; ///< of a step, over all ranks
  int64_t tokens = 0;  ///< labels of sequences; 0 if labels are none

  int64_t getNumRanks() const { return ranksPerStage * stages.size(); }
  /// Model FLOPs over what all devices could do in the expected time.
  double getUtilization(const ExpectedTime &time) const {
    return modelFlops / (time.seconds * time.peak * getNumRanks());
  }

  /// The rank of each stage that communicates longest; none without a topology.
  std::vector<const RankTime *> getSlowestRanks() const;

  /// After PlanMemory. Fails with a diagnostic if the module is not scheduled.
  /// `topology` may be null; else it has as many devices as there are ranks.
  /// `profile` may be null; else it has as many stages.
  static mlir::FailureOr<Report> compute(mlir::ModuleOp module,
                                         const Topology *topology = nullptr,
                                         const Profile *profile = nullptr);

  /// Adds what stages put on GPUs, if each kernel launches so many device
  /// functions. Fails with a diagnostic if the module is not that of the
  /// report.
  mlir::LogicalResult addDeviceWork(mlir::ModuleOp module,
                                    const llvm::StringMap<int64_t> &launches);

  void print(llvm::raw_ostream &os) const;
  llvm::json::Value toJson() const;
};

} // namespace dtc

#endif // DTC_REPORT_REPORT_H
