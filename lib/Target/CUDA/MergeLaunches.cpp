//===- MergeLaunches.cpp - joint launches of similar functions ------------===//
//
// The updates of several parameters are device functions that differ only in
// buffers and sizes. A joint launch runs the blocks of all of them, and each
// block first selects its buffers and sizes.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "dtc/Plan/KernelOps.h"
#include "dtc/Runtime/DeviceABI.h"
#include "dtc/Target/CUDA/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include <limits>

namespace dtc {
#define GEN_PASS_DEF_MERGELAUNCHES
#include "dtc/Target/CUDA/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

static int64_t getConstant(Value value) {
  APInt number;
  bool isConstant = matchPattern(value, m_ConstantInt(&number));
  assert(isConstant && "sizes and offsets are constants");
  (void)isConstant;
  return number.getSExtValue();
}

static int64_t getBytes(Type memref) {
  auto type = cast<MemRefType>(memref);
  return type.getNumElements() *
         llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

namespace {

/// The bytes of a launcher's argument that a launch reads or writes.
struct Access {
  Value buffer;
  int64_t begin, end;
  bool isWrite;

  bool conflictsWith(const Access &other) const {
    return buffer == other.buffer && (isWrite || other.isWrite) &&
           begin < other.end && other.begin < end;
  }
};

} // namespace

static SmallVector<Access> getAccesses(Operation *op,
                                       const SymbolTable &functions) {
  constexpr int64_t all = std::numeric_limits<int64_t>::max();
  SmallVector<Access> accesses;
  auto launch = dyn_cast<gpu::LaunchFuncOp>(op);
  if (!launch) {
    accesses.push_back({cast<gpu::MemsetOp>(op).getDst(), 0, all, true});
    // A view of scratch counts as all of scratch.
    if (auto view = accesses[0].buffer.getDefiningOp<memref::ViewOp>())
      accesses[0].buffer = view.getSource();
    return accesses;
  }
  auto function = functions.lookup<gpu::GPUFuncOp>(launch.getKernelName());
  for (auto [i, buffer] : llvm::enumerate(launch.getKernelOperands())) {
    for (Operation *user : function.getArgument(i).getUsers()) {
      if (auto view = dyn_cast<memref::ViewOp>(user)) {
        int64_t begin = getConstant(view.getByteShift());
        accesses.push_back({buffer, begin, begin + getBytes(view.getType()),
                            isWritten(view.getResult())});
        continue;
      }
      accesses.push_back({buffer, 0, all, isWritten(function.getArgument(i))});
    }
  }
  return accesses;
}

//===----------------------------------------------------------------------===//
// Similar functions
//===----------------------------------------------------------------------===//

/// Whether a value may differ between similar functions: sizes and buffers may.
static bool mayDiffer(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function =
        dyn_cast<gpu::GPUFuncOp>(argument.getOwner()->getParentOp());
    return function &&
           argument.getArgNumber() < function.getFunctionType().getNumInputs();
  }
  Operation *op = value.getDefiningOp();
  return isa<memref::ViewOp, memref::GetGlobalOp>(op) ||
         (isa<arith::ConstantOp>(op) && value.getType().isIndex());
}

static bool isAlike(Type a, Type b) {
  auto first = dyn_cast<MemRefType>(a), second = dyn_cast<MemRefType>(b);
  if (!first || !second)
    return a == b;
  return first.getElementType() == second.getElementType() &&
         first.getMemorySpace() == second.getMemorySpace();
}

namespace {

/// The operands that may differ between two functions, in the order of a walk.
class FunctionMatch {
public:
  /// Returns whether the functions are similar.
  bool run(gpu::GPUFuncOp a, gpu::GPUFuncOp b) {
    return a.getKnownBlockSizeAttr() == b.getKnownBlockSizeAttr() &&
           a.getWorkgroupAttributions().size() ==
               b.getWorkgroupAttributions().size() &&
           llvm::all_of(llvm::zip(a.getWorkgroupAttributions(),
                                  b.getWorkgroupAttributions()),
                        [&](auto pair) {
                          auto [x, y] = pair;
                          known[x] = y;
                          return x.getType() == y.getType();
                        }) &&
           compare(a.getBody(), b.getBody());
  }

  SmallVector<std::pair<OpOperand *, OpOperand *>> slots;

private:
  bool compare(Region &a, Region &b);
  bool compare(Operation &a, Operation &b);

  DenseMap<Value, Value> known;
};

} // namespace

bool FunctionMatch::compare(Operation &a, Operation &b) {
  if (a.getName() != b.getName() || a.getAttrs() != b.getAttrs() ||
      a.getPropertiesAsAttribute() != b.getPropertiesAsAttribute() ||
      a.getNumOperands() != b.getNumOperands() ||
      a.getResultTypes() != b.getResultTypes() ||
      a.getNumRegions() != b.getNumRegions())
    return false;
  for (auto [x, y] : llvm::zip(a.getOpOperands(), b.getOpOperands())) {
    if (mayDiffer(x.get()) != mayDiffer(y.get()) ||
        !isAlike(x.get().getType(), y.get().getType()))
      return false;
    if (mayDiffer(x.get()))
      slots.push_back({&x, &y});
    else if (known.lookup(x.get()) != y.get())
      return false;
  }
  for (auto [x, y] : llvm::zip(a.getRegions(), b.getRegions()))
    if (!compare(x, y))
      return false;
  for (auto [x, y] : llvm::zip(a.getResults(), b.getResults()))
    known[x] = y;
  return true;
}

bool FunctionMatch::compare(Region &a, Region &b) {
  if (a.empty() || b.empty())
    return a.empty() && b.empty();
  if (!isa<gpu::GPUFuncOp>(a.getParentOp())) {
    if (TypeRange(a.getArgumentTypes()) != TypeRange(b.getArgumentTypes()))
      return false;
    for (auto [x, y] : llvm::zip(a.getArguments(), b.getArguments()))
      known[x] = y;
  }
  auto isCompared = [](Operation &op) {
    return op.getNumResults() != 1 || !mayDiffer(op.getResult(0));
  };
  auto first = llvm::make_filter_range(a.front(), isCompared);
  auto second = llvm::make_filter_range(b.front(), isCompared);
  auto x = first.begin(), y = second.begin();
  for (; x != first.end() && y != second.end(); ++x, ++y)
    if (!compare(*x, *y))
      return false;
  return x == first.end() && y == second.end();
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

namespace {

struct Member {
  gpu::LaunchFuncOp launch;
  gpu::GPUFuncOp function;

  int64_t getBlocks() { return getConstant(launch.getGridSizeX()); }
  /// The launcher's buffer that is passed to an argument.
  Value getBuffer(Value argument) {
    return launch.getKernelOperand(
        cast<BlockArgument>(argument).getArgNumber());
  }
};

/// Launches of similar functions, without an order between them.
class Group {
public:
  explicit Group(Member first) : members{first} {
    buffers.insert_range(first.launch.getKernelOperands());
  }

  /// Adds a launch if its function is similar to the others.
  bool add(Member member);
  /// Replaces the launches by one, at the position of the first.
  void merge(SymbolTable &functions);

private:
  /// A value of the first function that each member has a version of.
  struct Variable {
    SmallVector<Value> values; ///< one for each member
    SmallVector<OpOperand *> slots;
    Value chosen;
  };

  bool isUniform(const Variable &variable);
  Value materialize(OpBuilder &b, unsigned member, Value value, Type type);
  SmallVector<Value> choose(OpBuilder &b, Value block, unsigned begin,
                            unsigned end);

  SmallVector<Member> members;
  llvm::SetVector<Value> buffers; ///< arguments of the launcher
  /// Operands of the first function that differ, with the operand of each
  /// member.
  llvm::MapVector<OpOperand *, SmallVector<Value>> slots;

  // State during the merge.
  Location getLoc() { return members[0].launch.getLoc(); }
  unsigned numOld = 0; ///< arguments of the first function before the merge
  SmallVector<Variable> variables;
  SmallVector<Type> types; ///< of the selection: block number and variables
  SmallVector<int64_t> starts;
};

} // namespace

bool Group::add(Member member) {
  FunctionMatch match;
  if (!match.run(members[0].function, member.function))
    return false;
  llvm::SetVector<Value> together = buffers;
  for (Value buffer : member.launch.getKernelOperands())
    together.insert(buffer);
  if (together.size() > DTC_MAX_DEVICE_ARGUMENTS)
    return false;
  buffers = std::move(together);
  for (auto [first, other] : match.slots) {
    SmallVector<Value> &values = slots[first];
    if (values.empty())
      values.push_back(first->get());
    values.push_back(other->get());
  }
  members.push_back(member);
  return true;
}

/// Whether the size or buffer is the same for all members.
bool Group::isUniform(const Variable &variable) {
  Value first = variable.values[0];
  for (auto [member, value] : llvm::zip(members, variable.values)) {
    if (isa<BlockArgument>(first) && isa<BlockArgument>(value)) {
      if (members[0].getBuffer(first) != member.getBuffer(value))
        return false;
    } else if (!value.getType().isIndex() ||
               getConstant(first) != getConstant(value)) {
      return false;
    }
  }
  return true;
}

/// The value in the merged function that corresponds to `value` of a member.
Value Group::materialize(OpBuilder &b, unsigned member, Value value,
                         Type type) {
  auto argumentOf = [&](Value argument) -> Value {
    Value buffer = members[member].getBuffer(argument);
    auto found = llvm::find(buffers, buffer);
    return members[0].function.getArgument(
        numOld + std::distance(buffers.begin(), found));
  };
  Value result;
  if (isa<BlockArgument>(value)) {
    result = argumentOf(value);
  } else if (auto view = value.getDefiningOp<memref::ViewOp>()) {
    Value shift = arith::ConstantIndexOp::create(
        b, getLoc(), getConstant(view.getByteShift()));
    result = memref::ViewOp::create(b, getLoc(), view.getType(),
                                    argumentOf(view.getSource()), shift,
                                    ValueRange());
  } else {
    result = b.clone(*value.getDefiningOp())->getResult(0);
  }
  if (result.getType() != type)
    result = memref::CastOp::create(b, getLoc(), type, result);
  return result;
}

/// Selects, for a block of one of the members [begin, end), its number in the
/// member's grid and the variables.
SmallVector<Value> Group::choose(OpBuilder &b, Value block, unsigned begin,
                                 unsigned end) {
  Location loc = getLoc();
  if (end - begin == 1) {
    Value start = arith::ConstantIndexOp::create(b, loc, starts[begin]);
    SmallVector<Value> values = {arith::SubIOp::create(b, loc, block, start)};
    for (auto [variable, type] :
         llvm::zip(variables, ArrayRef(types).drop_front()))
      values.push_back(materialize(b, begin, variable.values[begin], type));
    return values;
  }
  unsigned middle = begin + (end - begin) / 2;
  Value isFirst = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::ult, block,
      arith::ConstantIndexOp::create(b, loc, starts[middle]));
  auto branch =
      scf::IfOp::create(b, loc, types, isFirst, /*withElseRegion=*/true);
  OpBuilder low = OpBuilder::atBlockBegin(branch.thenBlock());
  scf::YieldOp::create(low, loc, choose(low, block, begin, middle));
  OpBuilder high = OpBuilder::atBlockBegin(branch.elseBlock());
  scf::YieldOp::create(high, loc, choose(high, block, middle, end));
  return llvm::to_vector_of<Value>(branch.getResults());
}

void Group::merge(SymbolTable &functions) {
  if (members.size() == 1)
    return;
  gpu::GPUFuncOp function = members[0].function;
  Block &entry = function.front();
  OpBuilder b = OpBuilder::atBlockBegin(&entry);
  SmallVector<Operation *> oldBlocks;
  function.walk([&](gpu::BlockIdOp op) { oldBlocks.push_back(op); });

  // The buffers of all launches follow the arguments of the first.
  numOld = function.getFunctionType().getNumInputs();
  for (auto [i, buffer] : llvm::enumerate(buffers))
    entry.insertArgument(numOld + i, buffer.getType(), getLoc());

  std::map<std::vector<void *>, unsigned> numbers;
  SmallVector<Variable> all;
  for (auto &[slot, values] : slots) {
    std::vector<void *> key;
    for (Value value : values)
      key.push_back(value.getAsOpaquePointer());
    auto [it, isNew] = numbers.try_emplace(key, all.size());
    if (isNew)
      all.push_back({values, {}, {}});
    all[it->second].slots.push_back(slot);
  }
  types.push_back(b.getIndexType());
  for (Variable &variable : all) {
    Type type = variable.values[0].getType();
    if (isUniform(variable)) {
      variable.chosen = materialize(b, 0, variable.values[0], type);
      for (OpOperand *slot : variable.slots)
        slot->set(variable.chosen);
      continue;
    }
    if (auto memref = dyn_cast<MemRefType>(type))
      if (!llvm::all_equal(ValueRange(variable.values).getTypes()))
        type = MemRefType::get({ShapedType::kDynamic}, memref.getElementType());
    types.push_back(type);
    variables.push_back(std::move(variable));
  }
  int64_t blocks = 0;
  for (Member &member : members) {
    starts.push_back(blocks);
    blocks += member.getBlocks();
  }
  Value block = gpu::BlockIdOp::create(b, getLoc(), gpu::Dimension::x);
  SmallVector<Value> chosen = choose(b, block, 0, members.size());
  for (Operation *op : oldBlocks) {
    op->getResult(0).replaceAllUsesWith(chosen[0]);
    op->erase();
  }
  for (auto [variable, value] :
       llvm::zip(variables, ArrayRef(chosen).drop_front()))
    for (OpOperand *slot : variable.slots)
      slot->set(value);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry)))
    if (isOpTriviallyDead(&op))
      op.erase();
  entry.eraseArguments(0, numOld);
  function.setFunctionType(
      b.getFunctionType(ValueRange(buffers.getArrayRef()).getTypes(), {}));

  gpu::LaunchFuncOp launch = members[0].launch;
  b.setInsertionPoint(launch);
  Value one = arith::ConstantIndexOp::create(b, getLoc(), 1);
  gpu::KernelDim3 grid{arith::ConstantIndexOp::create(b, getLoc(), blocks), one,
                       one};
  gpu::KernelDim3 threads{launch.getBlockSizeX(), one, one};
  gpu::LaunchFuncOp::create(b, getLoc(), function, grid, threads, Value(),
                            buffers.getArrayRef());
  for (Member &member : members) {
    member.launch.erase();
    if (member.function != function)
      functions.erase(member.function);
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Sorts launches by level. Launches of one level are independent of each
/// other.
static void mergeLaunches(func::FuncOp launcher, SymbolTable &functions) {
  Block &body = launcher.front();
  std::map<int64_t, SmallVector<Operation *>> levels;
  SmallVector<std::pair<Access, int64_t>> earlier;
  for (Operation &op : body) {
    if (!isa<gpu::LaunchFuncOp, gpu::MemsetOp>(op))
      continue;
    int64_t level = 0;
    SmallVector<Access> accesses = getAccesses(&op, functions);
    for (const Access &access : accesses)
      for (const auto &[other, its] : earlier)
        if (access.conflictsWith(other))
          level = std::max(level, its + 1);
    for (const Access &access : accesses)
      earlier.push_back({access, level});
    levels[level].push_back(&op);
  }
  for (auto &[level, ops] : levels) {
    std::vector<Group> groups;
    for (Operation *op : ops) {
      op->moveBefore(body.getTerminator());
      auto launch = dyn_cast<gpu::LaunchFuncOp>(op);
      if (!launch)
        continue;
      Member member{launch,
                    functions.lookup<gpu::GPUFuncOp>(launch.getKernelName())};
      if (llvm::none_of(groups,
                        [&](Group &group) { return group.add(member); }))
        groups.emplace_back(member);
    }
    for (Group &group : groups)
      group.merge(functions);
  }
}

namespace {

struct MergeLaunches : dtc::impl::MergeLaunchesBase<MergeLaunches> {
  using MergeLaunchesBase::MergeLaunchesBase;

  void runOnOperation() override {
    for (auto device :
         llvm::to_vector(getOperation().getOps<gpu::GPUModuleOp>())) {
      SymbolTable functions(device);
      for (auto launcher : getOperation().getOps<func::FuncOp>())
        if (launcher->hasAttr(attr::kernel) && !launcher.isDeclaration())
          mergeLaunches(launcher, functions);
    }
  }
};

} // namespace
