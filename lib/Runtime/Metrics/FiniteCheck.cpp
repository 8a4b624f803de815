//===- FiniteCheck.cpp - the first op whose result is no number -----------===//

#include "FiniteCheck.h"

#include "Collectives/Collectives.h"
#include "Core/Error.h"
#include "Device/ArenaValues.h"
#include "Program/Context.h"

#include <chrono>
#include <cmath>

using namespace dtc::rt;

/// Ranks of several machines compare it.
static int64_t calendarTime() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void FiniteCheck::look(const dtc_context &context, dtc_dtype dtype,
                       const void *result, int64_t count) {
  if (nan)
    return;
  device.synchronize();
  bool hasInfinity = false, hasNan = false;
  forEachPart(arena, arena.offsetOf(result), dtype, count,
              [&](std::span<const double> part) {
                for (double value : part) {
                  hasNan |= std::isnan(value);
                  hasInfinity |= std::isinf(value) && value > 0;
                }
                return !hasNan;
              });
  Found found{calendarTime(), op, context.function, context.microbatch};
  if (hasInfinity && !infinity)
    infinity = found;
  if (hasNan)
    nan = found;
}

std::string FiniteCheck::describe(const dtc_context &context,
                                  const Found &found, size_t rank) {
  const Program &program = context.program;
  const OpInfo &op = program.ops.at(size_t(found.op));
  std::string text = op.name;
  if (!op.node.empty())
    text += " of node '" + op.node + "'";
  if (found.function >= 0)
    text += " in " + program.functions.at(size_t(found.function));
  if (found.microbatch >= 0)
    text += format(" of micro-batch %d", found.microbatch);
  if (program.mesh.size() > 1)
    text += format(" on rank %zu", rank);
  return text;
}

std::string FiniteCheck::describe(const dtc_context &context) const {
  using Pair = std::array<Found, 2>;
  Pair own = {infinity.value_or(Found{}), nan.value_or(Found{})};
  std::vector<Pair> all(size_t(context.collectives.size()));
  context.collectives.gatherData(&own, all.data(), sizeof own);
  auto findFirst = [&](size_t kind) {
    size_t first = 0;
    for (size_t rank = 1; rank < all.size(); ++rank)
      if (int64_t time = all[rank][kind].time)
        if (int64_t best = all[first][kind].time; !best || time < best)
          first = rank;
    return std::pair(first, all[first][kind]);
  };
  auto [infiniteRank, infinite] = findFirst(0);
  auto [nanRank, noNumber] = findFirst(1);
  std::string text;
  // Results after a NaN say nothing.
  if (infinite.time && (!noNumber.time || infinite.time < noNumber.time))
    text = "the first infinity is a result of " +
           describe(context, infinite, infiniteRank);
  if (!noNumber.time)
    return text;
  return text + (text.empty() ? "" : ", ") + "the first NaN is a result of " +
         describe(context, noNumber, nanRank);
}
