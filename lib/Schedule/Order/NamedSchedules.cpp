//===- NamedSchedules.cpp - schedules of the literature -------------------===//
//
// Each schedule is one predicate on two tasks of a stage.
//
//===----------------------------------------------------------------------===//

#include "dtc/Schedule/Order/NamedSchedules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include <algorithm>
#include <cassert>
#include <utility>

using namespace dtc;

/// All forwards, then all backwards (Huang et al., arXiv 1811.06965).
///
///   stage 0  F0 F1 F2 F3 .. .. W0 W1 W2 W3
///   stage 1  .. F0 F1 F2 F3 BW BW BW BW ..
///
/// Chunks follow each other, all micro-batches of one before the next
/// (Lamy-Poirier, arXiv 2211.05953):
///
///   stage 0  F0   F1   F0.1 F1.1 ..   ..   W0.1 W1.1 W0 W1
///   stage 1  ..   F0   F1   F0.1 F1.1 BW.1 BW.1 BW   BW ..
bool dtc::mustPrecedeInGPipe(const PipelineStage &, const Task &a,
                             const Task &b) {
  if (a.kind == TaskKind::F)
    return b.kind != TaskKind::F || std::make_pair(a.chunk, a.microbatch) <
                                        std::make_pair(b.chunk, b.microbatch);
  return b.kind != TaskKind::F && std::make_pair(-a.chunk, a.microbatch) <
                                      std::make_pair(-b.chunk, b.microbatch);
}

/// One forward, one backward, once the pipeline is full (Narayanan et al.,
/// arXiv 2006.09503). Stage s of K runs K - 1 - s forwards ahead, so that it
/// holds at most K - s micro-batches.
///
///   stage 0  F0 F1 .. W0 F2 W1 F3 W2 .. W3
///   stage 1  .. F0 BW F1 BW F2 BW F3 BW ..
bool dtc::mustPrecedeIn1F1B(const PipelineStage &where, const Task &a,
                            const Task &b) {
  int64_t ahead = where.numStages - 1 - where.stage;
  bool aIsForward = a.kind == TaskKind::F, bIsForward = b.kind == TaskKind::F;
  if (aIsForward == bIsForward)
    return a.microbatch < b.microbatch;
  if (aIsForward)
    return a.microbatch <= b.microbatch + ahead;
  return a.microbatch + ahead < b.microbatch;
}

/// 1F1B on virtual stages (Narayanan et al., arXiv 2104.04473). Micro-batches
/// go through in groups of K, all of a group through one chunk before the next.
/// Stage s of K runs 2 (K - 1 - s) + (V - 1) K forwards ahead. Two stages, two
/// chunks, two micro-batches:
///
///   stage 0  F0   F1   F0.1 F1.1 ..   W0.1 ..   W1.1 W0   W1
///   stage 1  ..   F0   F1   F0.1 BW.1 F1.1 BW.1 BW   BW   ..
///
/// With one chunk it is 1F1B, which runs fewer forwards ahead.
bool dtc::mustPrecedeInInterleaved(const PipelineStage &where, const Task &a,
                                   const Task &b) {
  int64_t numStages = where.numStages, numChunks = where.numChunks;
  if (numChunks == 1)
    return mustPrecedeIn1F1B(where, a, b);
  int64_t ahead =
      2 * (numStages - 1 - where.stage) + (numChunks - 1) * numStages;
  // The position of a task among all F, or all B, of the stage.
  auto getTurn = [&](const Task &task) {
    int64_t chunk =
        task.kind == TaskKind::F ? task.chunk : numChunks - 1 - task.chunk;
    return (task.microbatch / numStages * numChunks + chunk) * numStages +
           task.microbatch % numStages;
  };
  bool aIsForward = a.kind == TaskKind::F, bIsForward = b.kind == TaskKind::F;
  if (aIsForward == bIsForward)
    return getTurn(a) < getTurn(b);
  if (aIsForward)
    return getTurn(a) <= getTurn(b) + ahead;
  return getTurn(a) + ahead < getTurn(b);
}

/// ZB-H1 (Qi et al., arXiv 2401.10241): 1F1B, but W is delayed by one
/// micro-batch for each stage before. F and B do not wait for W, which fills
/// the idle time at the end. From F to W, each stage holds at most K
/// micro-batches, as the first stage does under 1F1B.
///
///   stage 0  F0 F1 F2 .. .. B0 W0 F3 B1 W1 B2 W2 B3 W3
///   stage 1  .. F0 F1 .. B0 F2 B1 W0 F3 B2 W1 B3 W2 W3
///   stage 2  .. .. F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3
bool dtc::mustPrecedeInZBH1(const PipelineStage &where, const Task &a,
                            const Task &b) {
  int64_t ahead = where.numStages - 1 - where.stage;
  // Each turn has one F, one B and one W, as far as they exist.
  auto getTurn = [&](const Task &task) {
    return task.microbatch + (task.kind == TaskKind::F   ? -ahead
                              : task.kind == TaskKind::W ? where.stage
                                                         : 0);
  };
  return std::make_pair(getTurn(a), a.kind) <
         std::make_pair(getTurn(b), b.kind);
}

namespace {
struct NamedSchedule {
  const char *name;
  bool (*mustPrecede)(const PipelineStage &, const Task &, const Task &);
};
} // namespace

const char *const dtc::scheduleNames = "gpipe, 1f1b, interleaved, zb-h1";

static const NamedSchedule *findNamedSchedule(llvm::StringRef name) {
  static constexpr NamedSchedule all[] = {
      {"gpipe", mustPrecedeInGPipe},
      {"1f1b", mustPrecedeIn1F1B},
      {"interleaved", mustPrecedeInInterleaved},
      {"zb-h1", mustPrecedeInZBH1}};
  const NamedSchedule *found = llvm::find_if(
      all, [&](const NamedSchedule &entry) { return name == entry.name; });
  return found == std::end(all) ? nullptr : found;
}

bool dtc::isNamedSchedule(llvm::StringRef name) {
  return findNamedSchedule(name) != nullptr;
}

llvm::Expected<PipelineSchedule>
dtc::makeNamedSchedule(llvm::StringRef name, const Pipeline &pipeline) {
  using llvm::Twine;
  assert(isNamedSchedule(name) && "others are files");
  int64_t numStages = pipeline.numStages;
  if (pipeline.numChunks > 1) {
    if (name != "gpipe" && name != "interleaved")
      return llvm::createStringError(
          "schedule '" + Twine(name) + "' has one virtual stage a stage, not " +
          Twine(pipeline.numChunks) + "; use --schedule interleaved or gpipe");
    if (name == "interleaved" && pipeline.numMicrobatches % numStages)
      return llvm::createStringError(
          "schedule 'interleaved' takes micro-batches in groups of --pp: " +
          Twine(pipeline.numMicrobatches) + " found, expected a multiple of " +
          Twine(numStages));
  }
  auto schedule = makeSchedule(pipeline, findNamedSchedule(name)->mustPrecede);
  repeatSchedule(*schedule, pipeline);
  return std::move(*schedule);
}

double dtc::getBubbleFraction(llvm::StringRef schedule,
                              const Pipeline &pipeline) {
  auto [numStages, numMicrobatches, numRounds, numChunks] = pipeline;
  double busy = numChunks * numMicrobatches, idle = numStages - 1;
  if (schedule == "zb-h1") {
    // Counted in tasks. With few micro-batches, the first one takes longer
    // through the pipeline than a stage takes for its own work.
    busy = 3 * numMicrobatches;
    idle += std::max<int64_t>(0, numStages - numMicrobatches);
  } else if (schedule == "gpipe") {
    // The next chunk waits until the first micro-batch has passed all stages.
    idle += (numChunks - 1) * std::max<int64_t>(0, numStages - numMicrobatches);
  }
  return idle / (busy + idle);
}
