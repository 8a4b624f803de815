//===- GradientTest.cpp - gradients against finite differences ------------===//
//
// `rules FILE...` differentiates every module of the gradients' lit tests;
// `network FILE` takes a forward graph through the whole phase, on one to
// several stages. Both interpret the result in double precision.
//
//===----------------------------------------------------------------------===//

#include "Interpreter.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Strategy/Passes.h"
#include "dtc/Training/DifferentiableInterface.h"
#include "dtc/Training/Passes.h"
#include "dtc/Training/Verify.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <random>
#include <set>

using namespace mlir;
using namespace dtc;

using Tensors = std::vector<HostTensor>;

static int failures = 0;

static void expect(bool condition, const Twine &what) {
  if (condition)
    return;
  ++failures;
  llvm::errs() << "FAILED: " << what << "\n";
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// A differentiated step with its module.
struct Step {
  OwningOpRef<ModuleOp> module;
  func::FuncOp func;

  StringRef getArgument(unsigned i, StringRef name) {
    auto string = func.getArgAttrOfType<StringAttr>(i, name);
    return string ? string.getValue() : "";
  }
  /// Returns the number of the result with this attribute; -1 if there is none.
  int64_t findResult(StringRef name, StringRef string) {
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      if (auto found = func.getResultAttrOfType<StringAttr>(i, name);
          found && found.getValue() == string)
        return i;
    return -1;
  }
};

static Step buildStep(MLIRContext &context, StringRef source,
                      function_ref<void(PassManager &)> addPasses) {
  // In f64 the constants of the rules are exact to the interpreter's precision.
  std::string text = source.str();
  for (size_t at; (at = text.find("f32")) != std::string::npos;)
    text.replace(at, 3, "f64");
  Step step;
  step.module = parseSourceString<ModuleOp>(text, &context);
  PassManager passes(&context);
  addPasses(passes);
  if (!step.module || failed(passes.run(*step.module)))
    llvm::report_fatal_error("cannot differentiate");
  step.func = step.module->lookupSymbol<func::FuncOp>("step");
  return step;
}

/// Reals away from the kinks of relu and abs, positive if the function has
/// roots, logarithms or powers; integers that repeat and are valid indices; one
/// label that is ignored.
static Tensors makeArguments(Step &step) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> magnitude(0.2, 1.2);
  bool isPositive = false;
  step.func.walk([&](Operation *op) {
    isPositive |= isa<LogOp, SqrtOp>(op) ||
                  (isa<PowOp>(op) && !op->getOperand(1).getDefiningOp());
  });
  Tensors arguments;
  for (unsigned i = 0; i < step.func.getNumArguments(); ++i) {
    auto type = cast<ShapedType>(step.func.getArgumentTypes()[i]);
    HostTensor tensor(type.getShape());
    bool isLabel =
        llvm::any_of(step.func.getArgument(i).getUsers(), [](Operation *user) {
          auto loss = dyn_cast<CrossEntropyOp>(user);
          return loss && loss.getIgnoreIndex();
        });
    for (double &element : tensor.data) {
      uint64_t bits = random();
      if (type.getElementType().isInteger(1))
        element = bits % 2;
      else if (type.getElementType().isInteger())
        element = bits % 3;
      else
        element = (isPositive || bits % 2 ? 1 : -1) * magnitude(random);
    }
    if (isLabel)
      tensor.data[0] = -100;
    if (step.getArgument(i, attr::kind) == "lr")
      tensor.data[0] = 0.1;
    if (step.getArgument(i, attr::kind) == "step")
      tensor.data[0] = 1;
    if (!step.getArgument(i, attr::state).empty())
      tensor = HostTensor(type.getShape());
    arguments.push_back(tensor);
  }
  return arguments;
}

//===----------------------------------------------------------------------===//
// Finite differences
//===----------------------------------------------------------------------===//

/// The gradient of the loss by one argument.
static HostTensor differentiate(Step &step, Tensors arguments,
                                unsigned number) {
  constexpr double delta = 1e-5;
  int64_t loss = step.findResult(attr::output, "loss");
  HostTensor gradient = arguments[number];
  for (int64_t i = 0; i < gradient.size(); ++i) {
    double &element = arguments[number].data[i];
    double center = element;
    element = center + delta;
    double above = interpret(step.func, arguments)[loss].data[0];
    element = center - delta;
    double below = interpret(step.func, arguments)[loss].data[0];
    element = center;
    gradient.data[i] = (above - below) / (2 * delta);
  }
  return gradient;
}

static double getNorm(ArrayRef<double> values) {
  double sum = 0;
  for (double value : values)
    sum += value * value;
  return std::sqrt(sum);
}

/// |found - expected| <= tolerance * |expected| in the Euclidean norm.
static bool isClose(const HostTensor &found, const HostTensor &expected,
                    double tolerance) {
  std::vector<double> difference;
  for (auto [a, b] : llvm::zip_equal(found.data, expected.data))
    difference.push_back(a - b);
  return getNorm(difference) <= tolerance * getNorm(expected.data) + 1e-12;
}

static HostTensor scale(HostTensor tensor, double factor) {
  for (double &element : tensor.data)
    element *= factor;
  return tensor;
}

/// Checks the gradient of every parameter, and that the check notices a doubled
/// or dropped one.
static void checkGradients(Step &step, const Twine &name) {
  Tensors arguments = makeArguments(step);
  Tensors results = interpret(step.func, arguments);
  unsigned checked = 0;
  for (unsigned i = 0; i < step.func.getNumArguments(); ++i) {
    StringRef parameter = step.getArgument(i, attr::parameter);
    int64_t number = step.findResult(attr::gradient, parameter);
    if (parameter.empty() || number < 0)
      continue;
    ++checked;
    HostTensor expected = differentiate(step, arguments, i);
    const HostTensor &found = results[number];
    expect(getNorm(expected.data) > 1e-3,
           name + ": the gradient of " + parameter + " is too small to tell");
    expect(isClose(found, expected, 1e-6),
           name + ": wrong gradient of " + parameter);
    for (double factor : {0.0, 2.0})
      expect(!isClose(scale(found, factor), expected, 1e-6),
             name + ": a planted error of " + parameter + " is not noticed");
  }
  expect(checked > 0, name + ": no gradient to check");
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

static std::string readFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    llvm::report_fatal_error("cannot read " + path);
  return (*buffer)->getBuffer().str();
}

static void testRules(MLIRContext &context, ArrayRef<char *> paths) {
  std::set<StringRef> tested;
  for (StringRef path : paths) {
    std::string text = readFile(path);
    SmallVector<StringRef> modules;
    StringRef(text).split(modules, "// -----\n");
    for (StringRef source : modules) {
      Step step = buildStep(context, source, [](PassManager &passes) {
        passes.addPass(createDifferentiate());
      });
      step.func.walk(
          [&](Operation *op) { tested.insert(op->getName().getStringRef()); });
      checkGradients(step, *step.module->getSymName());
    }
  }
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.hasInterface<DifferentiableInterface>())
      expect(tested.count(name.getStringRef()),
             "no test has the gradient of " + name.getStringRef());
}

/// All passes; a stage count of K cuts into K stages.
static Step buildNetwork(MLIRContext &context, StringRef source,
                         int64_t numStages) {
  Step step = buildStep(context, source, [&](PassManager &passes) {
    ChooseCutsOptions cuts;
    cuts.stages = numStages;
    passes.addPass(createChooseCuts(cuts));
    passes.addPass(createInsertBoundaries());
    AddLossOptions loss;
    loss.ignoreIndex = "-100";
    passes.addPass(createAddLoss(loss));
    passes.addPass(createDifferentiate());
    passes.addPass(createAddOptimizer());
  });
  if (failed(verifyTraining(*step.module, numStages)))
    llvm::report_fatal_error("cannot differentiate");
  return step;
}

/// The norm is that of all gradients together, each counted once.
static void checkNorm(Step &step, const Tensors &results, const Twine &name) {
  std::vector<double> all;
  for (unsigned i = 0; i < step.func.getNumResults(); ++i)
    if (step.func.getResultAttr(i, attr::gradient))
      llvm::append_range(all, results[i].data);
  double norm = results[step.findResult(attr::output, "grad_norm")].data[0];
  expect(std::fabs(norm - getNorm(all)) <= 1e-12 * norm,
         name + ": wrong gradient norm");
}

static void testNetwork(MLIRContext &context, StringRef path) {
  std::string source = readFile(path);
  Step whole = buildNetwork(context, source, 1);
  Tensors arguments = makeArguments(whole);
  Tensors expected = interpret(whole.func, arguments);
  checkGradients(whole, "one stage");
  for (int64_t stages : {1, 2, 3, 5, 8}) {
    std::string name = std::to_string(stages) + " stages";
    Step step = buildNetwork(context, source, stages);
    Tensors found = interpret(step.func, arguments);
    checkNorm(step, found, name);
    for (auto [i, tensors] : llvm::enumerate(llvm::zip_equal(found, expected)))
      expect(isClose(std::get<0>(tensors), std::get<1>(tensors), 1e-12),
             name + ": result " + Twine(i) + " differs from one stage");
  }
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  registry.insert<DTCDialect, func::FuncDialect>();
  registerGradients(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  ArrayRef<char *> arguments(argv + 1, argv + argc);
  if (arguments.size() < 2)
    llvm::report_fatal_error("usage: TrainingTests rules|network FILE...");
  if (StringRef(arguments[0]) == "rules")
    testRules(context, arguments.drop_front());
  else
    testNetwork(context, arguments[1]);
  llvm::outs() << (failures ? "failed\n" : "passed\n");
  return failures != 0;
}
