//===- FormKernels.cpp - turn groups of ops into kernels ------------------===//
//
// Moves groups of tensor ops into functions of the module @kernels.
// KernelGroups.cpp decides the groups.
//
//===----------------------------------------------------------------------===//

#include "KernelGroups.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/KernelOps.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Schedule/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

namespace dtc {
#define GEN_PASS_DEF_FORMKERNELS
#include "dtc/Schedule/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

/// The module of kernels, which merges equal ones.
class KernelLibrary {
public:
  explicit KernelLibrary(ModuleOp root) : root(root) {}

  /// Returns the equal kernel of the module, or adds this one under a new name.
  SymbolRefAttr add(func::FuncOp kernel);

private:
  ModuleOp root, module;
  std::optional<SymbolTable> symbols;
  std::map<std::string, SmallVector<func::FuncOp>> byName;
};

} // namespace

static bool isEqual(func::FuncOp a, func::FuncOp b) {
  return a.getFunctionType() == b.getFunctionType() &&
         a.getArgAttrsAttr() == b.getArgAttrsAttr() &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

SymbolRefAttr KernelLibrary::add(func::FuncOp kernel) {
  MLIRContext *context = root.getContext();
  if (!module) {
    OpBuilder b = OpBuilder::atBlockEnd(root.getBody());
    module = ModuleOp::create(b, root.getLoc(), kernelsName);
    symbols.emplace(module);
  }
  // Equal kernels have equal names before names are made unique.
  SmallVector<func::FuncOp> &same = byName[kernel.getName().str()];
  auto reference = [&](func::FuncOp function) {
    return SymbolRefAttr::get(StringAttr::get(context, kernelsName),
                              FlatSymbolRefAttr::get(function.getNameAttr()));
  };
  for (func::FuncOp other : same)
    if (isEqual(other, kernel)) {
      kernel.erase();
      return reference(other);
    }
  same.push_back(kernel);
  symbols->insert(kernel);
  return reference(kernel);
}

/// Names a kernel after its first ops without repetitions:
/// `kernel_add_tanh_mul`. The prefix distinguishes a kernel from the library
/// function that it calls, such as `erf`.
static std::string getName(ArrayRef<Operation *> ops) {
  constexpr unsigned most = 4;
  SmallVector<StringRef> names;
  for (Operation *op : ops) {
    StringRef name = op->getName().stripDialect();
    if (!llvm::is_contained(names, name) && names.size() < most)
      names.push_back(name);
  }
  return "kernel_" + llvm::join(names, "_");
}

/// Creates a function of the group on local shapes. `inputs` and `outputs` are
/// the values that enter and leave the group.
static func::FuncOp createKernel(ArrayRef<Operation *> ops, ValueRange inputs,
                                 ValueRange outputs) {
  Location loc = FusedLoc::get(
      ops.front()->getContext(),
      llvm::map_to_vector(ops, [](Operation *op) { return op->getLoc(); }));
  auto getLocalTypes = [](ValueRange values) {
    return llvm::map_to_vector(values, [](Value value) -> Type {
      return getLocalType(value.getType());
    });
  };
  OpBuilder b(ops.front()->getContext());
  auto kernel = func::FuncOp::create(
      loc, getName(ops),
      b.getFunctionType(getLocalTypes(inputs), getLocalTypes(outputs)));
  kernel->setAttr(attr::kernel, b.getUnitAttr());
  b.setInsertionPointToStart(kernel.addEntryBlock());

  IRMapping mapping;
  mapping.map(inputs, kernel.getArguments());
  auto clone = [&](Operation *op) {
    Operation *copy = b.clone(*op, mapping);
    for (Value result : copy->getResults())
      result.setType(getLocalType(result.getType()));
    return copy;
  };
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand))
        clone(operand.getDefiningOp<ConstantOp>());
    clone(op);
  }
  func::ReturnOp::create(b, loc, llvm::map_to_vector(outputs, [&](Value value) {
                           return mapping.lookup(value);
                         }));

  // The kernel overwrites each argument that one of its ops overwrites.
  for (Operation *op : ops)
    if (auto alias = dyn_cast<AliasInterface>(op))
      for (OpResult result : op->getResults())
        if (std::optional<Alias> a = alias.getAlias(result.getResultNumber());
            a && a->kind == AliasKind::Update) {
          auto argument =
              cast<BlockArgument>(mapping.lookup(op->getOperand(a->operand)));
          kernel.setArgAttr(argument.getArgNumber(), attr::update,
                            b.getI64IntegerAttr(llvm::find(outputs, result) -
                                                outputs.begin()));
        }
  return kernel;
}

/// Replaces a group with the launch of a kernel, at the builder's position.
static void outline(OpBuilder &b, ArrayRef<Operation *> ops,
                    KernelLibrary &library) {
  llvm::SmallSetVector<Value, 8> inputs;
  SmallVector<Value> outputs;
  auto isInside = [&](Operation *op) { return llvm::is_contained(ops, op); };
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      if (!operand.getDefiningOp<ConstantOp>() &&
          !isInside(operand.getDefiningOp()))
        inputs.insert(operand);
    auto isUpdate = [](OpResult result) {
      std::optional<Alias> alias = getAlias(result);
      return alias && alias->kind == AliasKind::Update;
    };
    for (OpResult result : op->getResults())
      if (isUpdate(result) || !llvm::all_of(result.getUsers(), isInside))
        outputs.push_back(result);
  }
  SymbolRefAttr kernel =
      library.add(createKernel(ops, inputs.getArrayRef(), outputs));
  SmallVector<Location> locs =
      llvm::map_to_vector(ops, [](Operation *op) { return op->getLoc(); });
  auto launch =
      LaunchOp::create(b, b.getFusedLoc(locs), ValueRange(outputs).getTypes(),
                       kernel, inputs.getArrayRef());
  for (auto [from, to] : llvm::zip(outputs, launch.getOutputs()))
    from.replaceAllUsesWith(to);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
}

/// Checks the size of windows: kernels unroll all taps of a window.
static LogicalResult verifyPoolings(func::FuncOp function) {
  static constexpr int64_t mostTaps = 256;
  auto verify = [](auto op) -> WalkResult {
    ArrayRef<int64_t> kernel = op.getKernel();
    if (kernel[0] * kernel[1] <= mostTaps)
      return WalkResult::advance();
    op.emitOpError("has a window of ")
        << kernel[0] << " x " << kernel[1] << ", expected at most " << mostTaps
        << " elements on a target without a library for poolings";
    return WalkResult::interrupt();
  };
  bool isTooLarge = function
                        .walk([&](Operation *op) {
                          return llvm::TypeSwitch<Operation *, WalkResult>(op)
                              .Case<MaxPool2DOp, MaxPool2DGradOp, SumPool2DOp,
                                    SumPool2DGradOp>(verify)
                              .Default(WalkResult::advance());
                        })
                        .wasInterrupted();
  return failure(isTooLarge);
}

/// Removes results that only a gradient would read. Evaluations do not need
/// them, nor do forward passes whose activations are recomputed.
static void dropUnusedSums(Block &block) {
  for (auto op : llvm::make_early_inc_range(block.getOps<MatMulEpilogueOp>())) {
    if (!op.getSum() || !op.getSum().use_empty())
      continue;
    OpBuilder b(op);
    auto alone = MatMulEpilogueOp::create(
        b, op.getLoc(), op.getResult().getType(), /*sum=*/Type(),
        op.getEpilogue(), op.getLhs(), op.getRhs(), op.getOther(), op.getBias(),
        op.getTransposeLhs(), op.getTransposeRhs());
    op.getResult().replaceAllUsesWith(alone.getResult());
    op.erase();
  }
}

/// Merges equal views of a gradient and a recomputation, so that a kernel reads
/// the value once.
static void joinViews(Block &block) {
  llvm::DenseMap<std::pair<Value, Type>, Value> known;
  for (auto op : llvm::make_early_inc_range(block.getOps<ReshapeOp>())) {
    auto [view, isNew] =
        known.insert({{op.getX(), op.getType()}, op.getResult()});
    if (isNew)
      continue;
    op.getResult().replaceAllUsesWith(view->second);
    op.erase();
  }
}

static void formKernels(func::FuncOp function, bool joins, bool poolings,
                        KernelLibrary &library) {
  Block &block = function.front();
  dropUnusedSums(block);
  joinViews(block);
  OpBuilder b(block.getTerminator());
  std::vector<KernelUnit> units =
      viewParts(groupKernels(block, poolings), AliasClasses(block));
  if (joins)
    units = joinKernels(std::move(units), AliasClasses(block));
  for (const KernelUnit &unit : units) {
    if (unit.isKernel)
      outline(b, unit.ops, library);
    else
      unit.ops.front()->moveBefore(block.getTerminator());
  }
  // Erase constants that only kernels used.
  for (auto constant : llvm::make_early_inc_range(block.getOps<ConstantOp>()))
    if (constant->use_empty())
      constant.erase();
}

namespace {

struct FormKernels : dtc::impl::FormKernelsBase<FormKernels> {
  using FormKernelsBase::FormKernelsBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    FormKernelsBase::getDependentDialects(registry);
    registerKernelOpModels(registry);
  }

  void runOnOperation() override {
    KernelLibrary library(getOperation());
    for (auto stage : llvm::to_vector(getOperation().getOps<ModuleOp>())) {
      if (!stage->hasAttr(attr::stage))
        continue;
      for (auto function : stage.getOps<func::FuncOp>())
        if (!function.isDeclaration()) {
          if (poolings && failed(verifyPoolings(function)))
            return signalPassFailure();
          formKernels(function, joins, poolings, library);
        }
    }
  }
};

} // namespace
