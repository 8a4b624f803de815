//===- RandomKernelTest.cpp - random kernels against the interpreter ------===//
//
// usage: RandomKernelTests [--gpu] COUNT [SEED]      COUNT: at least 10 000
//                                            with DTC_FULL_TESTS=1
//        RandomKernelTests [--gpu] FILE.mlir
//
// --gpu: by the device functions of GPUs, which the CPU emulates.
//
// FormKernels fuses graphs drawn at random. The test compiles and runs them and
// compares with the interpreter. It shrinks a graph that differs to few ops and
// prints it as IR, which the second form runs.
//
//===----------------------------------------------------------------------===//

#include "RandomKernel.h"
#include "CompiledKernel.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Lowering/LinalgLowering.h"
#include "dtc/Plan/KernelOps.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Schedule/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include <cmath>
#include <cstdlib>
#include <random>

using namespace mlir;
using namespace dtc;

using Tensors = std::vector<HostTensor>;

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// The module after FormKernels, and its kernels.
struct Compiled {
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<CompiledKernels> kernels;
};

static KernelMachine machine = KernelMachine::cpu;

/// Null on failure. The vector width is drawn by the seed, too.
static std::unique_ptr<Compiled> compile(ModuleOp module, uint64_t seed) {
  auto result = std::make_unique<Compiled>();
  result->module = module.clone();
  PassManager passes(module.getContext());
  passes.addPass(createFormKernels());
  if (failed(passes.run(*result->module)))
    return nullptr;
  CpuOptions target = CpuOptions::getHost();
  target.vectorBytes = std::min<unsigned>(target.vectorBytes, 16u << seed % 3);
  for (auto kernels : result->module->getOps<ModuleOp>()) {
    if (kernels.getSymName() != kernelsName)
      continue;
    OwningOpRef<ModuleOp> copy = kernels.clone();
    result->kernels = CompiledKernels::create(*copy, target, machine);
    if (!result->kernels)
      return nullptr;
  }
  return result;
}

/// Returns the results of the compiled function.
static Tensors execute(func::FuncOp function, CompiledKernels *kernels,
                       ArrayRef<HostTensor> arguments) {
  DenseMap<Value, HostTensor> values;
  for (auto [argument, tensor] :
       llvm::zip_equal(function.getArguments(), arguments))
    values.try_emplace(argument, tensor);
  auto getTensors = [&](ValueRange range) {
    Tensors tensors;
    for (Value value : range)
      tensors.push_back(values.find(value)->second);
    return tensors;
  };
  for (Operation &op : function.front().without_terminator()) {
    Tensors operands = getTensors(op.getOperands()), results;
    if (auto launch = dyn_cast<LaunchOp>(op))
      results = kernels->run(cast<func::FuncOp>(launch.getFunction()),
                             launch.getKernel().getLeafReference(), operands);
    else
      results = evaluate(&op, operands);
    for (auto [result, tensor] : llvm::zip_equal(op.getResults(), results))
      values.try_emplace(result, std::move(tensor));
  }
  return getTensors(function.front().getTerminator()->getOperands());
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

static double getLargest(const HostTensor &x) {
  double largest = 0;
  for (double element : x.data)
    largest = std::max(largest, std::fabs(element));
  return largest;
}

/// Results with an error in every op except moves. The error is the tolerance
/// of a kernel's op, relative to the largest element that it reads or writes.
static Tensors interpretWithErrors(func::FuncOp function,
                                   ArrayRef<HostTensor> arguments,
                                   unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> sizes(0.5, 1); // do not cancel
  DenseMap<Value, double> largest;
  for (auto [value, tensor] : llvm::zip(function.getArguments(), arguments))
    largest[value] = getLargest(tensor);
  return interpret(function, arguments, [&](Operation *op, Tensors &results) {
    double scale = 0;
    for (Value operand : op->getOperands())
      if (isa<FloatType>(getElementTypeOrSelf(operand)))
        scale = std::max(scale, largest.lookup(operand));
    for (auto [value, tensor] : llvm::zip(op->getResults(), results)) {
      Type type = getElementTypeOrSelf(value);
      double own = largest[value] = getLargest(tensor);
      bool isRounded = isa<CastOp>(op) && type.isF32();
      if (!isa<FloatType>(type) || (isExact(op) && !isRounded))
        continue;
      bool isSingle =
          type.isF32() || llvm::any_of(op->getOperandTypes(), [](Type t) {
            return getElementTypeOrSelf(t).isF32();
          });
      double error = (isSingle ? 1e-6 : 4e-15) * std::max(scale, own);
      for (double &element : tensor.data)
        element += error * sizes(random) * (random() % 2 ? 1 : -1);
    }
  });
}

/// Describes the errors of the results; empty if there are none.
static std::string compare(func::FuncOp function,
                           ArrayRef<HostTensor> arguments,
                           ArrayRef<HostTensor> found) {
  Tensors expected = interpret(function, arguments);
  SmallVector<double> tolerances(expected.size(), 0);
  for (unsigned seed = 0; seed < 3; ++seed)
    for (auto [tolerance, exact, other] :
         llvm::zip(tolerances, expected,
                   interpretWithErrors(function, arguments, seed)))
      for (auto [a, b] : llvm::zip(exact.data, other.data))
        tolerance = std::max(tolerance, 8 * std::fabs(a - b));
  std::string text;
  llvm::raw_string_ostream os(text);
  for (auto [number, x, y] : llvm::enumerate(found, expected))
    for (auto [i, a, b] : llvm::enumerate(x.data, y.data))
      if (!(std::fabs(a - b) <= tolerances[number]) &&
          !(std::isnan(a) && std::isnan(b))) {
        os << "result " << number << " element " << i << ": found "
           << llvm::format("%.17g", a) << ", expected "
           << llvm::format("%.17g", b) << " within "
           << llvm::format("%.2g", tolerances[number]);
        return text;
      }
  return text;
}

/// Compiles a single case.
static std::string runAlone(const KernelCase &test, uint64_t seed) {
  std::unique_ptr<Compiled> compiled = compile(*test.module, seed);
  if (!compiled)
    return "does not compile";
  auto stage = *compiled->module->getOps<ModuleOp>().begin();
  auto function = *stage.getOps<func::FuncOp>().begin();
  return compare(test.getFunction(), test.arguments,
                 execute(function, compiled->kernels.get(), test.arguments));
}

//===----------------------------------------------------------------------===//
// Shrinking
//===----------------------------------------------------------------------===//

static KernelCase copyCase(const KernelCase &test) {
  return {cast<ModuleOp>((*test.module)->clone()), test.arguments};
}

/// Erases unused ops and arguments.
static void clean(KernelCase &test) {
  func::FuncOp function = test.getFunction();
  SmallVector<Operation *> ops;
  for (Operation &op : function.front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      op->erase();
  llvm::BitVector dead(function.getNumArguments());
  Tensors kept;
  for (BlockArgument argument : function.getArguments())
    if (argument.use_empty())
      dead.set(argument.getArgNumber());
    else
      kept.push_back(test.arguments[argument.getArgNumber()]);
  function.setType(FunctionType::get(
      function.getContext(), function.front().getArgumentTypes(),
      function.front().getTerminator()->getOperandTypes()));
  (void)function.eraseArguments(dead);
  test.arguments = std::move(kept);
}

/// Returns the case without one of its results.
static KernelCase dropResult(const KernelCase &test, unsigned number) {
  KernelCase smaller = copyCase(test);
  smaller.getFunction().front().getTerminator()->eraseOperand(number);
  clean(smaller);
  return smaller;
}

/// Returns the case with an argument in place of an op's result.
static KernelCase dropOp(const KernelCase &test, unsigned number) {
  KernelCase smaller = copyCase(test);
  func::FuncOp function = smaller.getFunction();
  Operation *dropped = &*std::next(function.front().begin(), number);
  Tensors results;
  interpret(function, test.arguments, [&](Operation *op, Tensors &values) {
    if (op == dropped)
      results = values;
  });
  for (auto [result, tensor] : llvm::zip(dropped->getResults(), results)) {
    unsigned index = function.getNumArguments();
    (void)function.insertArgument(index, result.getType(), {},
                                  function.getLoc());
    smaller.arguments.push_back(tensor);
    // Returned values stay, except for one that is only returned.
    result.replaceUsesWithIf(function.getArgument(index), [](OpOperand &use) {
      return !isa<func::ReturnOp>(use.getOwner());
    });
  }
  Operation *end = function.front().getTerminator();
  for (unsigned i = end->getNumOperands(); i-- > 0;)
    if (end->getOperand(i).getDefiningOp() == dropped)
      end->eraseOperand(i);
  clean(smaller);
  return smaller;
}

/// Returns the smallest case found that still differs.
static KernelCase shrink(KernelCase test, uint64_t seed) {
  for (bool isSmaller = true; isSmaller;) {
    isSmaller = false;
    auto attempt = [&](KernelCase smaller) {
      if (smaller.getFunction().getNumResults() == 0 ||
          runAlone(smaller, seed).empty())
        return;
      test = std::move(smaller);
      isSmaller = true;
    };
    for (unsigned i = test.getFunction().getNumResults(); i-- > 0;)
      if (i < test.getFunction().getNumResults())
        attempt(dropResult(test, i));
    auto countOps = [&] {
      return test.getFunction().front().getOperations().size() - 1;
    };
    for (unsigned i = countOps(); i-- > 0;)
      if (i < countOps())
        attempt(dropOp(test, i));
  }
  return test;
}

//===----------------------------------------------------------------------===//
// Main
//===----------------------------------------------------------------------===//

/// Makes one module of many cases, so that one compilation serves all kernels.
static std::vector<std::string>
runTogether(MLIRContext &context, ArrayRef<KernelCase> cases, uint64_t seed) {
  KernelCase all = createKernelCase(context);
  all.getFunction().erase();
  auto stage = *all.module->getOps<ModuleOp>().begin();
  for (auto [i, test] : llvm::enumerate(cases)) {
    func::FuncOp copy = test.getFunction().clone();
    copy.setName("case" + std::to_string(i));
    stage.push_back(copy);
  }
  std::unique_ptr<Compiled> compiled = compile(*all.module, seed);
  std::vector<std::string> errors(cases.size());
  if (!compiled) {
    for (auto [test, error] : llvm::zip(cases, errors))
      error = runAlone(test, seed);
    return errors;
  }
  auto formed = *compiled->module->getOps<ModuleOp>().begin();
  for (auto [test, error, function] :
       llvm::zip(cases, errors, formed.getOps<func::FuncOp>()))
    error = compare(test.getFunction(), test.arguments,
                    execute(function, compiled->kernels.get(), test.arguments));
  return errors;
}

static void report(KernelCase test, uint64_t seed, uint64_t batch) {
  // Different seeds have different vector widths.
  KernelCase smallest = shrink(std::move(test), batch);
  llvm::errs() << "seed " << seed << ": " << runAlone(smallest, batch) << "\n";
  smallest.module->print(llvm::errs());
  llvm::errs() << "\n";
}

static int runRandom(MLIRContext &context, uint64_t count, uint64_t first) {
  constexpr uint64_t batch = 20;
  constexpr int mostReports = 5;
  llvm::outs() << count << " kernels from seed " << first << "\n";
  llvm::outs().flush();
  int failures = 0;
  for (uint64_t seed = first; seed < first + count; seed += batch) {
    llvm::PrettyStackTraceFormat trace("in a kernel of a seed from %llu on",
                                       (unsigned long long)seed);
    std::vector<KernelCase> cases;
    for (uint64_t s = seed; s < std::min(seed + batch, first + count); ++s)
      cases.push_back(drawKernel(context, s));
    auto errors = runTogether(context, cases, seed / batch);
    for (auto [i, error] : llvm::enumerate(errors)) {
      if (error.empty())
        continue;
      llvm::errs() << "FAILED: seed " << seed + i << " after "
                   << seed + i - first + 1 << " kernels: " << error << "\n";
      if (++failures <= mostReports)
        report(std::move(cases[i]), seed + i, seed / batch);
    }
  }
  llvm::outs() << failures << " of " << count << " differ\n";
  return failures != 0;
}

static int runFile(MLIRContext &context, StringRef path) {
  KernelCase test;
  test.module = parseSourceFile<ModuleOp>(path, &context);
  if (!test.module)
    return 1;
  func::FuncOp function = test.getFunction();
  std::mt19937 random(7);
  std::uniform_real_distribution<double> numbers(-3, 3);
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    HostTensor tensor(cast<ShapedType>(type).getShape());
    auto bound = function.getArgAttrOfType<IntegerAttr>(i, "test.bound");
    bool isInteger = getElementTypeOrSelf(type).isInteger();
    for (double &x : tensor.data)
      x = isInteger ? double(random() % (bound ? bound.getInt() : 2))
                    : double(float(numbers(random)));
    test.arguments.push_back(tensor);
  }
  int failures = 0;
  for (uint64_t width : {0, 1, 2})
    if (std::string error = runAlone(test, width); !error.empty()) {
      llvm::errs() << "FAILED: " << error << "\n";
      ++failures;
    }
  return failures != 0;
}

int main(int argc, char **argv) {
  llvm::sys::PrintStackTraceOnErrorSignal(argv[0]);
  DialectRegistry registry;
  registry.insert<DTCDialect, func::FuncDialect>();
  registerLinalgLoweringModels(registry);
  registerKernelOpModels(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  context.allowUnregisteredDialects();
  if (argc > 1 && StringRef(argv[1]).starts_with("--")) {
    machine = StringRef(argv[1]) == "--gpu" ? KernelMachine::gpu
                                            : KernelMachine::dividedCpu;
    --argc;
    ++argv;
  }
  if (argc < 2)
    llvm::report_fatal_error(
        "usage: RandomKernelTests [--gpu|--divided] COUNT [SEED] | FILE");
  uint64_t count, seed = 1;
  if (StringRef(argv[1]).getAsInteger(10, count))
    return runFile(context, argv[1]);
  const char *full = std::getenv("DTC_FULL_TESTS");
  if (argc > 2)
    (void)StringRef(argv[2]).getAsInteger(10, seed);
  else if (full && StringRef(full) == "1")
    count = std::max<uint64_t>(count, 10000);
  return runRandom(context, count, seed);
}
