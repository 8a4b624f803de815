//===- Mixing.cpp - neighbours of gossip averaging ------------------------===//
//
// See Mixing.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Training/Mixing.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace dtc;

bool MixingTerm::isOwn() const {
  return llvm::all_of(llvm::enumerate(sources), [](auto entry) {
    return entry.value() == static_cast<int64_t>(entry.index());
  });
}

/// A round in which all permutations have one weight. Equal ones become one
/// term.
static MixingRound mixEvenly(ArrayRef<SmallVector<int64_t>> permutations) {
  MixingRound round;
  for (const SmallVector<int64_t> &sources : permutations) {
    auto *same = llvm::find_if(
        round, [&](const MixingTerm &term) { return term.sources == sources; });
    if (same != round.end())
      ++same->count;
    else
      round.push_back({sources, 1, int64_t(permutations.size())});
  }
  return round;
}

/// Each worker gets the parameters of the one `shift` places further.
static SmallVector<int64_t> rotate(int64_t workers, int64_t shift) {
  return llvm::map_to_vector(llvm::seq(workers), [&](int64_t i) {
    return (i + shift + workers) % workers;
  });
}

/// The largest divisor that is not above the square root.
static int64_t getRows(int64_t workers) {
  int64_t rows = 1;
  for (int64_t i = 2; i * i <= workers; ++i)
    if (workers % i == 0)
      rows = i;
  return rows;
}

static MixingRound getTorus(int64_t workers) {
  int64_t rows = getRows(workers), columns = workers / rows;
  auto shift = [&](int64_t down, int64_t right) {
    return llvm::map_to_vector(llvm::seq(workers), [&](int64_t i) {
      int64_t row = (i / columns + down + rows) % rows;
      return row * columns + (i % columns + right + columns) % columns;
    });
  };
  return mixEvenly(
      {shift(0, 0), shift(-1, 0), shift(1, 0), shift(0, -1), shift(0, 1)});
}

SmallVector<MixingRound> dtc::getMixing(MixingKind kind, int64_t workers) {
  SmallVector<int64_t> own = rotate(workers, 0);
  SmallVector<SmallVector<int64_t>> powers;
  for (int64_t shift = 1; shift < workers; shift *= 2)
    powers.push_back(rotate(workers, shift));
  switch (kind) {
  case MixingKind::Ring:
    return {mixEvenly({own, rotate(workers, -1), rotate(workers, 1)})};
  case MixingKind::Torus:
    return {getTorus(workers)};
  case MixingKind::Exponential:
    powers.insert(powers.begin(), own);
    return {mixEvenly(powers)};
  case MixingKind::OnePeer: {
    SmallVector<MixingRound> rounds;
    for (const SmallVector<int64_t> &peers : powers)
      rounds.push_back(mixEvenly({own, peers}));
    if (rounds.empty())
      rounds.push_back(mixEvenly({own}));
    return rounds;
  }
  }
  llvm_unreachable("all kinds are listed");
}

bool dtc::isDoublyStochastic(const MixingRound &round) {
  if (round.empty())
    return false;
  int64_t total = round.front().total, workers = round.front().sources.size();
  std::vector<int64_t> rows(workers), columns(workers);
  for (const MixingTerm &term : round) {
    if (term.total != total || term.count < 1 ||
        static_cast<int64_t>(term.sources.size()) != workers)
      return false;
    for (auto [worker, source] : llvm::enumerate(term.sources)) {
      rows[worker] += term.count;
      columns[source] += term.count;
    }
  }
  auto isTotal = [&](int64_t sum) { return sum == total; };
  return llvm::all_of(rows, isTotal) && llvm::all_of(columns, isTotal);
}

/// One round on a value for each worker.
static std::vector<double> mix(const MixingRound &round,
                               const std::vector<double> &values,
                               bool isTransposed) {
  std::vector<double> mixed(values.size());
  for (const MixingTerm &term : round)
    for (auto [worker, source] : llvm::enumerate(term.sources)) {
      auto [to, from] = isTransposed
                            ? std::pair<size_t, size_t>(source, worker)
                            : std::pair<size_t, size_t>(worker, source);
      mixed[to] += term.getWeight() * values[from];
    }
  return mixed;
}

double dtc::getContraction(ArrayRef<MixingRound> rounds) {
  size_t workers = rounds.front().front().sources.size();
  if (workers == 1)
    return 0;
  // Power iteration on the product's square, without the mean. The start is
  // in no invariant subspace of a topology's symmetries.
  std::vector<double> values(workers);
  for (size_t i = 0; i < workers; ++i)
    values[i] = std::sin(1.0 + double(i) * double(i)) + double(i % 3);
  double factor = 0;
  constexpr int mostIterations = 100000;
  for (int iteration = 0; iteration < mostIterations; ++iteration) {
    double mean =
        std::accumulate(values.begin(), values.end(), 0.0) / double(workers);
    double squares = 0;
    for (double &value : values) {
      value -= mean;
      squares += value * value;
    }
    if (squares < 1e-300)
      return 0;
    for (double &value : values)
      value /= std::sqrt(squares);
    for (const MixingRound &round : rounds)
      values = mix(round, values, /*isTransposed=*/false);
    double next = 0;
    for (double value : values)
      next += value * value;
    for (const MixingRound &round : llvm::reverse(rounds))
      values = mix(round, values, /*isTransposed=*/true);
    bool isDone = std::abs(next - factor) < 1e-15;
    factor = next;
    if (isDone && iteration > 100)
      break;
  }
  // Rounding leaves a rest of an exact mean.
  double shrink = factor < 1e-24 ? 0 : std::sqrt(factor);
  return std::pow(shrink, 1.0 / double(rounds.size()));
}
