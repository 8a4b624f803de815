//===- ChooseCuts.cpp - number the pipeline stages ------------------------===//
//
// Balanced cut of the forward graph by dynamic programming, or at nodes that
// the user names.
//
//===----------------------------------------------------------------------===//

#include "dtc/Training/CloseNames.h"
#include "dtc/Training/Passes.h"
#include "dtc/Training/StepFunction.h"
#include <limits>
#include <numeric>

namespace dtc {
#define GEN_PASS_DEF_CHOOSECUTS
#include "dtc/Training/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// What a crossing byte costs in floating-point operations: the ratio of a
/// processor's arithmetic to its network, some tens on CPUs, more on GPUs.
constexpr double flopsPerByte = 100;
/// A mean crossing is at most this share of a chunk, so that a small model's
/// stages are balanced, too; of what is not work, which bytes cannot be weighed
/// against, it is that share. Among cuts that are alike the cheap one is chosen.
constexpr double meanCrossing = 0.1;

namespace {

/// The forward graph as a sequence. Each op that has a stage has a position;
/// ops that depend on parameters alone are at that of their first user.
struct Sequence {
  SmallVector<Operation *> ops;
  llvm::MapVector<Operation *, unsigned> positions;

  explicit Sequence(func::FuncOp forward);
  /// The position of the last user of a value, that of its own op if none.
  unsigned getLastUse(OpResult value) const;
};

/// Costs of chunks [begin, end) of a sequence.
struct CostModel {
  /// Sum of the costs of the ops before each position.
  SmallVector<double> prefix;
  /// Cost of a cut before each position.
  SmallVector<double> crossing;

  double getCost(unsigned begin, unsigned end) const {
    return prefix[end] - prefix[begin] + crossing[begin] + crossing[end];
  }
};

struct ChooseCutsPass : dtc::impl::ChooseCutsBase<ChooseCutsPass> {
  using ChooseCutsBase::ChooseCutsBase;
  void runOnOperation() override;

private:
  FailureOr<SmallVector<unsigned>> chooseCuts(func::FuncOp forward,
                                              const Sequence &sequence);
  FailureOr<SmallVector<unsigned>> findNamedCuts(func::FuncOp forward,
                                                 const Sequence &sequence);
};

} // namespace

//===----------------------------------------------------------------------===//
// Sequence
//===----------------------------------------------------------------------===//

Sequence::Sequence(func::FuncOp forward) {
  enum : unsigned { Inputs = 1, Parameters = 2 };
  DenseMap<Value, unsigned> origins;
  for (BlockArgument argument : forward.getArguments())
    origins[argument] =
        getArgString(argument, attr::parameter) ? Parameters : Inputs;
  SmallVector<Operation *> ofParameters;
  for (Operation &op : forward.front().without_terminator()) {
    unsigned origin = 0;
    for (Value operand : op.getOperands())
      origin |= origins.at(operand);
    for (Value result : op.getResults())
      origins[result] = origin;
    if (origin == Parameters)
      ofParameters.push_back(&op);
    if (origin != (Parameters | Inputs))
      continue;
    positions[&op] = ops.size();
    ops.push_back(&op);
  }
  for (Operation *op : llvm::reverse(ofParameters)) {
    unsigned first = ops.empty() ? 0 : ops.size() - 1;
    for (Operation *user : op->getUsers())
      if (auto found = positions.find(user); found != positions.end())
        first = std::min(first, found->second);
    positions[op] = first;
  }
}

unsigned Sequence::getLastUse(OpResult value) const {
  unsigned last = positions.lookup(value.getOwner());
  for (Operation *user : value.getUsers())
    if (auto found = positions.find(user); found != positions.end())
      last = std::max(last, found->second);
  return last;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

static int64_t getBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return llvm::divideCeil(
      tensor.getNumElements() * tensor.getElementTypeBitWidth(), 8);
}

static double getFlops(Operation *op) {
  auto cost = dyn_cast<CostInterface>(op);
  return cost ? cost.getFlops() : 0;
}

/// The cost of each position alone, for one of the ways to cut.
static SmallVector<double> getCosts(func::FuncOp forward,
                                    const Sequence &sequence, StringRef cut) {
  SmallVector<double> costs(sequence.ops.size(), cut == "uniform" ? 1 : 0);
  if (cut == "cost")
    for (auto [op, position] : sequence.positions)
      costs[position] += getFlops(op);
  if (cut == "parameters")
    for (BlockArgument argument : forward.getArguments()) {
      if (!getArgString(argument, attr::parameter))
        continue;
      unsigned first = sequence.ops.size() - 1;
      for (Operation *user : argument.getUsers())
        if (auto found = sequence.positions.find(user);
            found != sequence.positions.end())
          first = std::min(first, found->second);
      costs[first] += getBytes(argument.getType());
    }
  return costs;
}

static CostModel buildCostModel(func::FuncOp forward, const Sequence &sequence,
                                StringRef cut, unsigned numChunks) {
  CostModel model;
  model.prefix.push_back(0);
  for (double cost : getCosts(forward, sequence, cut))
    model.prefix.push_back(model.prefix.back() + cost);
  model.crossing.assign(sequence.ops.size() + 1, 0);
  for (auto [op, position] : sequence.positions)
    for (OpResult value : op->getResults())
      for (unsigned p = position + 1, e = sequence.getLastUse(value); p <= e;
           ++p)
        model.crossing[p] += getBytes(value.getType());
  double bytes =
      std::accumulate(model.crossing.begin(), model.crossing.end(), 0.0) /
      model.crossing.size();
  double price =
      meanCrossing * model.prefix.back() / numChunks / std::max(bytes, 1.0);
  if (cut == "cost")
    price = std::min(price, flopsPerByte);
  for (double &cost : model.crossing)
    cost *= price;
  return model;
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

/// Cuts a sequence into chunks so that `combine`, folded over their costs from
/// the left, is smallest. Returns the first position of each chunk but the
/// first, and the smallest value.
static std::pair<SmallVector<unsigned>, double>
cutOptimally(const CostModel &model, unsigned numChunks,
             function_ref<double(double, double)> combine) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  unsigned size = model.prefix.size() - 1;
  // best[k][end]: of the first `end` ops in k chunks; `last` is where the last
  // of these chunks begins.
  std::vector<std::vector<double>> best(
      numChunks + 1, std::vector<double>(size + 1, infinity));
  std::vector<std::vector<unsigned>> last(numChunks + 1,
                                          std::vector<unsigned>(size + 1, 0));
  best[0][0] = 0;
  for (unsigned k = 1; k <= numChunks; ++k)
    for (unsigned end = k; end <= size; ++end)
      for (unsigned begin = end; begin-- > k - 1;) {
        if (best[k - 1][begin] == infinity)
          continue;
        // A longer chunk costs more still.
        double least = combine(0, model.prefix[end] - model.prefix[begin]);
        if (least > best[k][end])
          break;
        double value = combine(best[k - 1][begin], model.getCost(begin, end));
        if (value <= best[k][end] && value < infinity) {
          best[k][end] = value;
          last[k][end] = begin;
        }
      }
  SmallVector<unsigned> cuts;
  for (unsigned k = numChunks, end = size; k > 1; --k)
    cuts.push_back(end = last[k][end]);
  std::reverse(cuts.begin(), cuts.end());
  return {cuts, best[numChunks][size]};
}

/// The smallest largest chunk; among these, the smallest sum of squares.
static SmallVector<unsigned> cutBalanced(const CostModel &model,
                                         unsigned numChunks) {
  double largest =
      cutOptimally(model, numChunks, [](double sofar, double cost) {
        return std::max(sofar, cost);
      }).second;
  return cutOptimally(model, numChunks,
                      [&](double sofar, double cost) {
                        return cost > largest
                                   ? std::numeric_limits<double>::infinity()
                                   : sofar + cost * cost;
                      })
      .first;
}

/// The name that the importer gave an op; empty if none.
static StringRef getNodeName(Operation *op) {
  StringRef name;
  op->getLoc()->walk([&](Location location) {
    auto named = dyn_cast<NameLoc>(location);
    if (!named)
      return WalkResult::advance();
    name = named.getName();
    return WalkResult::interrupt();
  });
  return name;
}

FailureOr<SmallVector<unsigned>>
ChooseCutsPass::findNamedCuts(func::FuncOp forward, const Sequence &sequence) {
  int64_t wanted = stages;
  if (static_cast<int64_t>(cut.size()) + 1 != wanted)
    return forward.emitError("cut at ")
           << cut.size() << " nodes gives " << cut.size() + 1
           << " stages, expected " << wanted << " stages";
  SmallVector<StringRef> names;
  for (Operation *op : sequence.ops)
    names.push_back(getNodeName(op));
  SmallVector<unsigned> cuts;
  for (const std::string &name : cut) {
    auto found = llvm::find(names, name);
    if (found == names.end())
      return forward.emitError("no node '")
             << name << "' to cut at; the closest names are "
             << listCloseNames(name, llvm::to_vector(llvm::SetVector<StringRef>(
                                         names.begin(), names.end())));
    unsigned position = found - names.begin();
    if (position <= (cuts.empty() ? 0 : cuts.back()))
      return forward.emitError("cut at '")
             << name << "' leaves the stage before it empty, expected nodes in "
             << "the order of the graph";
    cuts.push_back(position);
  }
  return cuts;
}

FailureOr<SmallVector<unsigned>>
ChooseCutsPass::chooseCuts(func::FuncOp forward, const Sequence &sequence) {
  int64_t wanted = stages;
  int64_t largest = std::max<size_t>(sequence.ops.size(), 1);
  if (wanted < 1 || wanted > largest)
    return forward.emitError("cannot cut the graph into ")
           << wanted << " pipeline stages, expected 1 to " << largest
           << ": it has that many ops between its inputs and outputs";
  if (wanted == 1)
    return SmallVector<unsigned>();
  std::string way = cut.empty() ? "cost" : cut[0];
  if (cut.size() <= 1 &&
      llvm::is_contained({"cost", "parameters", "uniform"}, way))
    return cutBalanced(buildCostModel(forward, sequence, way, wanted), wanted);
  return findNamedCuts(forward, sequence);
}

void ChooseCutsPass::runOnOperation() {
  FailureOr<func::FuncOp> forward = findFunction(getOperation(), forwardName);
  if (failed(forward))
    return signalPassFailure();
  Sequence sequence(*forward);
  FailureOr<SmallVector<unsigned>> cuts = chooseCuts(*forward, sequence);
  if (failed(cuts))
    return signalPassFailure();
  Builder builder(&getContext());
  for (auto [op, position] : sequence.positions) {
    int64_t stage = llvm::upper_bound(*cuts, position) - cuts->begin();
    op->setAttr(attr::stage, builder.getI64IntegerAttr(stage));
  }
}
