//===- FormEpilogues.cpp - fuse products with what follows ----------------===//
//
// A matrix product and the elementwise ops that read its result become one op.
// The pass recognises a function such as GELU by its values at many points, in
// every form in which an exporter or a gradient rule writes it.
//
//===----------------------------------------------------------------------===//

#include "Reshapes.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/Elementwise.h"
#include "dtc/Dialect/FindFunction.h"
#include "dtc/Dialect/StepFunction.h"
#include "dtc/Plan/Aliases.h"
#include "dtc/Plan/KernelOps.h"
#include "dtc/Schedule/Passes.h"
#include <cmath>

namespace dtc {
#define GEN_PASS_DEF_FORMEPILOGUES
#include "dtc/Schedule/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

//===----------------------------------------------------------------------===//
// Functions by their values
//===----------------------------------------------------------------------===//

namespace {

/// The elements of a tensor at the sample points.
using Samples = std::vector<double>;

/// Values that follow element by element from some tensors and constants.
struct Formula {
  llvm::MapVector<Value, Samples> values; ///< in the order of discovery

  /// The first value that equals the function; null if none does.
  Value find(Type type, const Samples &function) const;
};

} // namespace

static constexpr int numSamples = 61;
/// Formulas have about ten ops; the search ignores longer ones.
static constexpr size_t mostValues = 256;

static Samples sample(function_ref<double(int)> function) {
  Samples samples;
  for (int i = 0; i < numSamples; ++i)
    samples.push_back(function(i));
  return samples;
}

/// Sample points from -12 to 12: beyond, GELU is the larger of x and 0.
static double getArgument(int i) { return (i - 30) * 0.4; }
/// A factor that differs between sample points.
static double getFactor(int i) { return i % 7 - 3.5; }

/// The argument of tanh in the tanh approximation of GELU.
static double getInner(double x) {
  return std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
}
static double gelu(double x) { return 0.5 * x * (1 + std::tanh(getInner(x))); }
static double geluGrad(double x) {
  double t = std::tanh(getInner(x));
  double slope = std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope;
}

/// Equal up to the error of constants in f32.
static bool areEqual(const Samples &a, const Samples &b) {
  return llvm::all_of(llvm::zip(a, b), [](auto pair) {
    auto [x, y] = pair;
    return std::abs(x - y) <= 1e-5 * std::max(1.0, std::abs(y));
  });
}

Value Formula::find(Type type, const Samples &function) const {
  for (const auto &[value, samples] : values)
    if (value.getType() == type && areEqual(samples, function))
      return value;
  return {};
}

static std::optional<double> getSplat(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto data = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue())
                       : DenseFPElementsAttr();
  if (!data || !data.isSplat())
    return std::nullopt;
  return data.getSplatValue<APFloat>().convertToDouble();
}

/// Whether an op is an analytic function: two formulas of such ops that agree
/// at all samples are equal. A selection could differ between samples.
static bool isAnalytic(Operation *op) {
  if (auto cast = dyn_cast<CastOp>(op))
    return isa<FloatType>(cast.getX().getType().getElementType()) &&
           isa<FloatType>(cast.getY().getType().getElementType());
  return isa<AddOp, SubOp, MulOp, DivOp, PowOp, NegOp, ExpOp, SqrtOp,
             ReciprocalOp, TanhOp, ErfOp, SigmoidOp>(op);
}

/// The result of an op at the sample points of its operands; none if an operand
/// is not known.
static std::optional<Samples> evaluate(Operation *op, const Formula &formula) {
  SmallVector<Samples> operands;
  for (Value operand : op->getOperands()) {
    const auto *known = formula.values.find(operand);
    std::optional<double> splat = getSplat(operand);
    if (known != formula.values.end())
      operands.push_back(known->second);
    else if (splat)
      operands.emplace_back(numSamples, *splat);
    else
      return std::nullopt;
  }
  Samples result;
  SmallVector<double> elements(operands.size());
  for (int i = 0; i < numSamples; ++i) {
    for (auto [element, samples] : llvm::zip(elements, operands))
      element = samples[i];
    result.push_back(*evaluateElement(op, elements));
  }
  return result;
}

/// Adds all values that follow from those of the formula.
static void follow(Formula &formula) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(formula.values.front().first.getType()).getShape();
  for (size_t next = 0;
       next < formula.values.size() && formula.values.size() < mostValues;
       ++next)
    for (Operation *user : (formula.values.begin() + next)->first.getUsers()) {
      if (!isAnalytic(user) || formula.values.contains(user->getResult(0)) ||
          cast<RankedTensorType>(user->getResult(0).getType()).getShape() !=
              shape)
        continue;
      if (std::optional<Samples> samples = evaluate(user, formula))
        formula.values.insert({user->getResult(0), std::move(*samples)});
    }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The library reads and stores eight elements at a time.
static constexpr int64_t vectorElements = 8;

/// Whether the library has epilogues for a product.
static bool canHaveEpilogue(MatMulOp product) {
  RankedTensorType type = getLocalType(product.getResult().getType());
  RankedTensorType lhs = getLocalType(product.getLhs().getType());
  return type.getRank() == 2 && isFloat16(type) &&
         type.getElementType() == lhs.getElementType() &&
         type.getDimSize(1) % vectorElements == 0 &&
         lhs.getDimSize(product.getTransposeLhs() ? 0 : 1) % vectorElements ==
             0;
}

/// A product's result, or the only view of it that has users.
static Value getWhatIsRead(MatMulOp product) {
  Value result = product.getResult();
  auto view = result.hasOneUse() ? dyn_cast<ReshapeOp>(*result.user_begin())
                                 : ReshapeOp();
  return view ? Value(view.getResult()) : result;
}

namespace {

/// An addition to a value by its only reader.
struct Addition {
  Value sum; ///< null if there is none
  Value other;
};

} // namespace

static Addition findAddition(Value value) {
  auto add = value.hasOneUse() ? dyn_cast<AddOp>(*value.user_begin()) : AddOp();
  if (!add || add.getType() != value.getType())
    return {};
  return {add.getResult(), add.getLhs() == value ? add.getRhs() : add.getLhs()};
}

/// Finds a row that is added to a product. Its alignment must suit the library:
/// ZeRO puts parameters side by side in one tensor.
static Addition findBias(MatMulOp product, const AliasClasses &classes) {
  Addition bias = findAddition(getWhatIsRead(product));
  if (!bias.sum)
    return {};
  int64_t columns = product.getResult().getType().getDimSize(1);
  auto sum = cast<RankedTensorType>(bias.sum.getType());
  auto row = cast<RankedTensorType>(bias.other.getType());
  bool isRow = row.getRank() == 1 && row.getDimSize(0) == columns &&
               sum.getShape().back() == columns &&
               row.getElementType() == sum.getElementType();
  int64_t bytes = vectorElements * row.getElementTypeBitWidth() / 8;
  bool isAligned = classes.getOffset(bias.other) % bytes == 0;
  return isRow && isAligned ? bias : Addition();
}

/// Whether an op before a product reads a value, so that it is in memory when
/// the product is computed.
static bool isReadBefore(Operation *product, Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isView(user) ? isReadBefore(product, user->getResult(0))
                        : user->isBeforeInBlock(product);
  });
}

/// Finds a matrix that is added to a product, or to its sum with a bias, and
/// that is in memory anyway.
static Addition findMatrix(MatMulOp product, Value sum,
                           const AliasClasses &classes) {
  Addition matrix = findAddition(sum);
  if (!matrix.sum || matrix.other == sum ||
      matrix.other.getType() != matrix.sum.getType())
    return {};
  if (LayoutAttr layout = getLayout(sum.getType());
      layout && layout.hasPartial())
    return {};
  Value source = skipReshapes(matrix.other);
  Operation *producer = source.getDefiningOp();
  bool isInMemory = !producer || producer->hasTrait<Product>() ||
                    isReadBefore(product, source);
  int64_t bytes = vectorElements * 2;
  return isInMemory && classes.getOffset(matrix.other) % bytes == 0
             ? matrix
             : Addition();
}

namespace {

class EpilogueBuilder {
public:
  explicit EpilogueBuilder(Block &body) : body(body), classes(body) {}
  void run();

private:
  void addForward(MatMulOp product);
  bool addMatrix(MatMulOp product, const Addition &bias);
  void addGradients(Value x, const Formula &formula);
  void addGradient(MatMulOp product, Value x, const Formula &formula);
  MatMulEpilogueOp create(Epilogue epilogue, MatMulOp product, Value other,
                          Operation *before, ArrayRef<Value> values,
                          bool hasSum = false, Value bias = {});

  Block &body;
  AliasClasses classes;
  /// Products that were fused with the ops that follow.
  llvm::DenseSet<Operation *> replaced;
};

} // namespace

/// Creates an op in place of a product and of the ops that compute `values`,
/// whose locations it takes.
MatMulEpilogueOp EpilogueBuilder::create(Epilogue epilogue, MatMulOp product,
                                         Value other, Operation *before,
                                         ArrayRef<Value> values, bool hasSum,
                                         Value bias) {
  replaced.insert(product);
  SmallVector<Location> locations = {product.getLoc()};
  for (Value value : values)
    locations.push_back(value.getLoc());
  OpBuilder b(before);
  Type type = product.getResult().getType();
  return MatMulEpilogueOp::create(
      b, b.getFusedLoc(locations), type, hasSum ? type : Type(), epilogue,
      product.getLhs(), product.getRhs(), other, bias,
      product.getTransposeLhs(), product.getTransposeRhs());
}

/// Fuses the addition of a matrix, such as the residual or another product.
bool EpilogueBuilder::addMatrix(MatMulOp product, const Addition &bias) {
  Value from = bias.sum ? bias.sum : getWhatIsRead(product);
  auto [sum, other] = findMatrix(product, from, classes);
  if (!sum)
    return false;
  Operation *add = sum.getDefiningOp();
  OpBuilder builder(add);
  Value matrix = reshapeTo(builder, other, product.getResult().getType());
  Value fused = create(Epilogue::add, product, matrix, add, {from, sum},
                       /*hasSum=*/false, bias.other)
                    .getResult();
  sum.replaceAllUsesWith(reshapeTo(builder, fused, sum.getType()));
  return true;
}

void EpilogueBuilder::addForward(MatMulOp product) {
  Addition biased = findBias(product, classes);
  if (addMatrix(product, biased) || !biased.sum)
    return;
  Value x = biased.sum, bias = biased.other;
  Operation *add = x.getDefiningOp();
  auto replace = [&](Value value, Epilogue epilogue) {
    OpBuilder builder(add);
    Value fused = create(epilogue, product, bias, add, {x, value}).getResult();
    value.replaceAllUsesWith(reshapeTo(builder, fused, value.getType()));
  };
  auto relu = x.hasOneUse() ? dyn_cast<ReluOp>(*x.user_begin()) : ReluOp();
  if (relu)
    return replace(relu.getResult(), Epilogue::relu);
  Formula formula;
  formula.values.insert({x, sample(getArgument)});
  follow(formula);
  Value y = formula.find(x.getType(),
                         sample([](int i) { return gelu(getArgument(i)); }));
  if (y && y.getType() == product.getResult().getType() && !isReadByKernel(y)) {
    MatMulEpilogueOp fused =
        create(Epilogue::gelu, product, bias, add,
               llvm::to_vector(llvm::make_first_range(formula.values)),
               /*hasSum=*/true);
    addGradients(x, formula);
    y.replaceAllUsesWith(fused.getResult());
    x.replaceAllUsesWith(fused.getSum());
  } else if (!isReadByKernel(x)) { // else the kernel adds at no cost
    replace(x, Epilogue::bias);
  }
}

/// Finds ops that multiply a product by a gradient function of x, and fuses
/// them.
void EpilogueBuilder::addGradients(Value x, const Formula &formula) {
  llvm::SetVector<Operation *> products;
  for (const auto &[value, samples] : formula.values)
    for (Operation *user : value.getUsers())
      for (Value operand : user->getOperands())
        if (auto product = operand.getDefiningOp<MatMulOp>();
            product && operand.getType() == x.getType())
          products.insert(product);
  for (Operation *product : products)
    if (!replaced.contains(product))
      addGradient(cast<MatMulOp>(product), x, formula);
}

void EpilogueBuilder::addGradient(MatMulOp product, Value x,
                                  const Formula &formula) {
  if (!canHaveEpilogue(product))
    return;
  Formula both = formula;
  both.values.insert({product.getResult(), sample(getFactor)});
  follow(both);
  Value gradient = both.find(x.getType(), sample([](int i) {
                               return getFactor(i) * geluGrad(getArgument(i));
                             }));
  if (!gradient)
    return;
  // All values between the product and the gradient must have no other users.
  llvm::SetVector<Value> way;
  way.insert(gradient);
  for (size_t next = 0; next < way.size(); ++next)
    if (way[next] != product.getResult())
      for (Value operand : way[next].getDefiningOp()->getOperands())
        if (both.values.contains(operand) && !formula.values.contains(operand))
          way.insert(operand);
  for (Value value : way)
    if (value != gradient &&
        !llvm::all_of(value.getUsers(), [&](Operation *user) {
          return user->getNumResults() == 1 && way.contains(user->getResult(0));
        }))
      return;
  gradient.replaceAllUsesWith(create(Epilogue::gelu_grad, product, x,
                                     gradient.getDefiningOp(),
                                     way.getArrayRef())
                                  .getResult());
}

void EpilogueBuilder::run() {
  for (auto product : llvm::to_vector(body.getOps<MatMulOp>()))
    if (!replaced.contains(product) && canHaveEpilogue(product))
      addForward(product);
}

namespace {

struct FormEpilogues : dtc::impl::FormEpiloguesBase<FormEpilogues> {
  void getDependentDialects(DialectRegistry &registry) const override {
    FormEpiloguesBase::getDependentDialects(registry);
    registerKernelOpModels(registry);
  }

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findFunction(getOperation(), stepName);
    if (failed(step))
      return signalPassFailure();
    EpilogueBuilder(step->front()).run();
    eraseDeadOps(*step); // ops that only replaced results needed
  }
};

} // namespace
