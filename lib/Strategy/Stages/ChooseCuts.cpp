//===- ChooseCuts.cpp - assign ops to pipeline stages ---------------------===//
//
// Cuts the forward graph by dynamic programming so that chunks are balanced, or
// at nodes that the user names.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/StepFunction.h"
#include "dtc/Strategy/Passes.h"
#include "dtc/Support/CloseNames.h"
#include <limits>

namespace dtc {
#define GEN_PASS_DEF_CHOOSECUTS
#include "dtc/Strategy/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

/// Tolerated excess of the largest chunk's cost over the optimum, so that less
/// data crosses: costs are no more exact than that, and networks differ.
constexpr double tolerance = 0.04;

constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {

/// The forward graph as a sequence. Each op with a stage has a position. Ops
/// that depend on parameters alone have that of their first user.
struct Sequence {
  SmallVector<Operation *> ops;
  llvm::MapVector<Operation *, unsigned> positions;

  explicit Sequence(func::FuncOp forward);
  /// The position of a value's last user; that of its own op if it has none.
  unsigned getLastUse(OpResult value) const;
};

/// The cost of chunks [begin, end) of a sequence.
struct CostModel {
  /// Sum of the costs of the ops before each position.
  SmallVector<double> prefix;
  /// Bytes that cross a cut before each position; infinite if no cut is
  /// allowed.
  SmallVector<double> crossing;

  double getCost(unsigned begin, unsigned end) const {
    return prefix[end] - prefix[begin];
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

/// The cost of each position for a way to cut.
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

/// Forbids cuts between the uses of one tensor of the model: an optimizer may
/// need the norm of all its parts.
static void keepTogether(func::FuncOp forward, const Sequence &sequence,
                         CostModel &model) {
  llvm::StringMap<std::pair<unsigned, unsigned>> uses; // first, last
  for (BlockArgument argument : forward.getArguments()) {
    if (!forward.getArgAttr(argument.getArgNumber(), attr::part))
      continue;
    for (Operation *user : argument.getUsers())
      if (auto found = sequence.positions.find(user);
          found != sequence.positions.end()) {
        unsigned position = found->second;
        auto [it, isNew] = uses.try_emplace(getTensorName(argument),
                                            std::pair(position, position));
        auto &[first, last] = it->second;
        first = std::min(first, position);
        last = std::max(last, position);
      }
  }
  for (auto &entry : uses)
    for (unsigned p = entry.second.first + 1; p <= entry.second.second; ++p)
      model.crossing[p] = infinity;
}

static CostModel buildCostModel(func::FuncOp forward, const Sequence &sequence,
                                StringRef cut) {
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
  keepTogether(forward, sequence, model);
  return model;
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

/// Cuts a sequence into chunks with the smallest value of `combine`, folded
/// from the left over their costs and the bytes that cross before them. Returns
/// the first position of each chunk but the first, and the smallest value,
/// which is infinite if no cut is possible.
template <typename Combine>
static std::pair<SmallVector<unsigned>, double>
cutOptimally(const CostModel &model, unsigned numChunks, Combine combine) {
  unsigned size = model.prefix.size() - 1;
  // best[k][end] is the smallest value for the first `end` ops in k chunks;
  // `last` is the begin of the last of these chunks.
  std::vector<std::vector<double>> best(
      numChunks + 1, std::vector<double>(size + 1, infinity));
  std::vector<std::vector<unsigned>> last(numChunks + 1,
                                          std::vector<unsigned>(size + 1, 0));
  best[0][0] = 0;
  for (unsigned k = 1; k <= numChunks; ++k)
    for (unsigned end = k; end <= size; ++end)
      for (unsigned begin = end; begin-- > k - 1;) {
        double cost = model.getCost(begin, end);
        // A longer chunk costs even more.
        double least = combine(0, cost, 0);
        if (least > best[k][end] || least == infinity)
          break;
        double value = combine(best[k - 1][begin], cost, model.crossing[begin]);
        if (value <= best[k][end] && value < infinity) {
          best[k][end] = value;
          last[k][end] = begin;
        }
      }
  SmallVector<unsigned> cuts;
  if (best[numChunks][size] < infinity)
    for (unsigned k = numChunks, end = size; k > 1; --k)
      cuts.push_back(end = last[k][end]);
  std::reverse(cuts.begin(), cuts.end());
  return {cuts, best[numChunks][size]};
}

/// Returns cuts whose largest chunk is nearly minimal; among these, the ones
/// with the fewest bytes across; then the smallest sum of squares. None if
/// there are too few places to cut.
static SmallVector<unsigned> cutBalanced(const CostModel &model,
                                         unsigned numChunks) {
  double largest = cutOptimally(model, numChunks,
                                [](double sofar, double cost, double crossing) {
                                  return crossing == infinity
                                             ? infinity
                                             : std::max(sofar, cost);
                                })
                       .second;
  double limit = (1 + tolerance) * largest;
  // Small enough to decide only between equals: bytes are integers.
  double evenness = 0.5 / std::max(numChunks * limit * limit, 1.0);
  return cutOptimally(model, numChunks,
                      [&](double sofar, double cost, double crossing) {
                        return cost > limit
                                   ? infinity
                                   : sofar + crossing + evenness * cost * cost;
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
           << cut.size() << (cut.size() == 1 ? " node" : " nodes") << " gives "
           << cut.size() + 1 << " stages, expected " << wanted
           << ", --pp times --virtual-stages";
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
  std::string way = cut.empty() ? "cost" : cut[0];
  if (cut.size() > 1 ||
      !llvm::is_contained({"cost", "parameters", "uniform"}, way))
    return findNamedCuts(forward, sequence);
  if (wanted == 1)
    return SmallVector<unsigned>();
  SmallVector<unsigned> cuts =
      cutBalanced(buildCostModel(forward, sequence, way), wanted);
  if (cuts.empty())
    return forward.emitError("cannot cut the graph into ")
           << wanted << " pipeline stages without separating parts of a tensor "
           << "that tensor parallelism splits; use fewer stages";
  return cuts;
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
