//===- RandomKernel.cpp - graphs of tensor ops drawn at random ------------===//
//
// The test appends ops one by one. It evaluates each at once, and takes it back
// if its values are not comparable: infinite, large, or near a pole.
//
//===----------------------------------------------------------------------===//

#include "RandomKernel.h"
#include "dtc/Dialect/Dialect.h"
#include "mlir/IR/Verifier.h"
#include <cmath>
#include <deque>
#include <random>

using namespace mlir;
using namespace dtc;

using Shape = SmallVector<int64_t>;

func::FuncOp KernelCase::getFunction() const {
  auto stage = *(*module).getOps<ModuleOp>().begin();
  return *stage.getOps<func::FuncOp>().begin();
}

KernelCase dtc::createKernelCase(MLIRContext &context) {
  KernelCase result;
  Location loc = UnknownLoc::get(&context);
  result.module = ModuleOp::create(loc);
  OpBuilder b = OpBuilder::atBlockEnd(result.module->getBody());
  auto stage = ModuleOp::create(b, loc, "stage0");
  stage->setAttr(attr::stage, b.getI64IntegerAttr(0));
  b.setInsertionPointToEnd(stage.getBody());
  auto function =
      func::FuncOp::create(b, loc, "forward", b.getFunctionType({}, {}));
  b.setInsertionPointToEnd(function.addEntryBlock());
  func::ReturnOp::create(b, loc);
  return result;
}

bool dtc::isExact(Operation *op) {
  return isa<NegOp, AbsOp, FloorOp, ReluOp, MaximumOp, MinimumOp, CompareOp,
             LogicalAndOp, LogicalOrOp, LogicalNotOp, SelectOp, CastOp,
             ConstantOp, ReshapeOp, TransposeOp, BroadcastOp, SliceOp, PadOp,
             SplitOp, ConcatOp, ReduceMaxOp, GatherOp, OneHotOp,
             RandomUniformOp>(op);
}

namespace {

/// A value that ops may use.
struct Known {
  Value value;
  HostTensor tensor;
  bool isExact;

  RankedTensorType getType() const {
    return cast<RankedTensorType>(value.getType());
  }
  const Shape &shape() const { return tensor.shape; }
  int64_t rank() const { return tensor.shape.size(); }
  double least() const { return *llvm::min_element(tensor.data); }
};

class Drawing {
public:
  Drawing(MLIRContext &context, uint64_t seed);
  KernelCase draw();

private:
  // Chance.
  int64_t below(int64_t n) { return int64_t(random() % uint64_t(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename Range> auto &any(Range &&range) {
    return range[below(std::size(range))];
  }
  Shape drawShape();
  Shape drawBroadcast(ArrayRef<int64_t> shape);
  const Known *drawKnown(function_ref<bool(const Known &)> condition);
  const Known *drawFloat(int64_t minRank = 0);
  const Known &drawOperand(const Known &other);
  const Known &addArgument(ArrayRef<int64_t> shape, Type element,
                           int64_t bound = 0);

  // Functions that append ops. They return false if no operand or value fits.
  bool add(StringRef name, ArrayRef<Type> results,
           ArrayRef<const Known *> operands,
           ArrayRef<NamedAttribute> attributes = {});
  bool drawUnary();
  bool drawFloor();
  bool drawBinary();
  bool drawOuter();
  bool drawPower();
  bool drawCompare();
  bool drawLogical();
  bool drawSelect();
  bool drawCast();
  bool drawConstant();
  bool addConstant(RankedTensorType type, ArrayRef<Attribute> values);
  bool drawNeutral();
  SmallVector<int64_t> drawPermutation(int64_t rank);
  bool addTranspose(const Known &x, ArrayRef<int64_t> permutation);
  bool drawTranspose();
  bool dropDimension(const Known &x);
  bool drawReshape();
  bool drawBroadcastOp();
  bool drawSlice();
  bool drawParts();
  bool drawSplit();
  bool drawPad();
  bool drawConcat();
  bool drawReduction();
  bool drawRows();
  bool drawLayerNorm();
  bool drawGather();
  bool drawScatterAdd();
  bool drawOneHot();
  bool drawRandom();
  bool drawLoss();
  bool drawAgain();
  bool drawUpdate();
  void finish();

  RankedTensorType withShape(ArrayRef<int64_t> shape, Type element) {
    return RankedTensorType::get(shape, element);
  }
  NamedAttribute named(StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  }
  NamedAttribute named(StringRef name, double value) {
    return b.getNamedAttr(name, b.getF64FloatAttr(value));
  }

  std::mt19937_64 random;
  KernelCase result;
  func::FuncOp function;
  OpBuilder b;
  Type element;            ///< of floats
  std::deque<Known> known; ///< references stay valid
};

} // namespace

Drawing::Drawing(MLIRContext &context, uint64_t seed)
    : random(seed), result(createKernelCase(context)),
      function(result.getFunction()), b(function.front().getTerminator()) {
  element = chance(50) ? Type(b.getF32Type()) : Type(b.getF64Type());
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static bool isFloat(const Known &known) {
  return isa<FloatType>(known.getType().getElementType());
}

/// Sizes that are 1, and that do and do not fill vectors.
Shape Drawing::drawShape() {
  static constexpr int64_t sizes[] = {1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33};
  constexpr int64_t most = 2048;
  Shape shape;
  for (int64_t rank = below(5); rank > 0; --rank) {
    int64_t size = any(sizes);
    if (ShapedType::getNumElements(shape) * size <= most)
      shape.push_back(size);
  }
  return shape;
}

/// Returns a shape that broadcasts to this one.
Shape Drawing::drawBroadcast(ArrayRef<int64_t> shape) {
  Shape result(shape.drop_front(below(shape.size() + 1)));
  for (int64_t &size : result)
    if (chance(30))
      size = 1;
  return result;
}

/// Later values are more likely.
const Known *Drawing::drawKnown(function_ref<bool(const Known &)> condition) {
  SmallVector<const Known *> fit;
  for (const Known &value : known)
    if (condition(value))
      fit.push_back(&value);
  if (fit.empty())
    return nullptr;
  return fit[std::max(below(fit.size()), below(fit.size()))];
}

const Known *Drawing::drawFloat(int64_t minRank) {
  return drawKnown([&](const Known &x) {
    return x.getType().getElementType() == element && x.rank() >= minRank;
  });
}

const Known &Drawing::addArgument(ArrayRef<int64_t> shape, Type type,
                                  int64_t bound) {
  HostTensor tensor(shape);
  std::uniform_real_distribution<double> numbers(-3, 3);
  for (double &x : tensor.data)
    x = bound               ? double(below(bound))
        : type.isInteger(1) ? double(below(2))
        : type.isInteger()  ? double(below(9) - 4)
        : chance(5)         ? double(below(5) - 2) // ties
                            : double(float(numbers(random)));
  unsigned number = function.getNumArguments();
  (void)function.insertArgument(number, withShape(shape, type), {},
                                function.getLoc());
  if (bound)
    function.setArgAttr(number, "test.bound", b.getI64IntegerAttr(bound));
  result.arguments.push_back(tensor);
  known.push_back({function.getArgument(number), tensor, true});
  return known.back();
}

/// Returns a value with which an elementwise op of the other has the other's
/// shape.
const Known &Drawing::drawOperand(const Known &other) {
  Type type = other.getType().getElementType();
  if (chance(70)) {
    const Known *found = drawKnown([&](const Known &x) {
      if (x.getType().getElementType() != type || x.rank() > other.rank())
        return false;
      ArrayRef<int64_t> end = ArrayRef(other.shape()).take_back(x.rank());
      return llvm::all_of(llvm::zip(x.shape(), end), [](auto sizes) {
        return std::get<0>(sizes) == 1 ||
               std::get<0>(sizes) == std::get<1>(sizes);
      });
    });
    if (found)
      return *found;
  }
  return addArgument(drawBroadcast(other.shape()), type);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Returns whether errors of operands stay small.
static bool isConditioned(Operation *op, ArrayRef<HostTensor> operands) {
  constexpr double least = 0.05;
  auto isAwayFromZero = [&](const HostTensor &x) {
    return llvm::all_of(x.data,
                        [&](double e) { return std::fabs(e) >= least; });
  };
  auto isPositive = [&](const HostTensor &x) {
    return llvm::all_of(x.data, [&](double e) { return e >= least; });
  };
  if (isa<LogOp, SqrtOp>(op))
    return isPositive(operands[0]);
  if (isa<ReciprocalOp>(op))
    return isAwayFromZero(operands[0]);
  if (isa<DivOp>(op))
    return isAwayFromZero(operands[1]);
  return true;
}

bool Drawing::add(StringRef name, ArrayRef<Type> results,
                  ArrayRef<const Known *> operands,
                  ArrayRef<NamedAttribute> attributes) {
  OperationState state(function.getLoc(), ("dtc." + name).str());
  std::vector<HostTensor> tensors;
  bool areExact = true;
  for (const Known *operand : operands) {
    state.operands.push_back(operand->value);
    tensors.push_back(operand->tensor);
    areExact &= operand->isExact;
  }
  state.addTypes(results);
  state.addAttributes(attributes);
  Operation *op = b.create(state);
  if (failed(verify(op)))
    llvm::report_fatal_error("drew an op that is not valid");
  std::vector<HostTensor> values = evaluate(op, tensors);
  constexpr double largest = 1e3;
  bool isFit = isConditioned(op, tensors) &&
               llvm::all_of(values, [&](const HostTensor &value) {
                 return llvm::all_of(value.data, [&](double x) {
                   return std::fabs(x) <= largest; // not NaN
                 });
               });
  if (!isFit) {
    op->erase();
    return false;
  }
  // Values that the test compares in single precision must not be rounded
  // before.
  areExact &= isExact(op) && !(isa<CastOp>(op) && isFloat(*operands[0]));
  for (auto [value, tensor] : llvm::zip(op->getResults(), values))
    known.push_back({value, std::move(tensor), areExact});
  return true;
}

bool Drawing::drawUnary() {
  static constexpr llvm::StringLiteral names[] = {
      "neg", "abs",     "exp",  "log", "sqrt", "reciprocal", "tanh",
      "erf", "sigmoid", "relu", "sin", "cos",  "atan"};
  const Known *x = drawFloat();
  return x && add(any(names), x->getType(), x);
}

/// These ops jump, so no rounding may come before them.
bool Drawing::drawFloor() {
  const Known *x = drawKnown([&](const Known &value) {
    return value.isExact && value.getType().getElementType() == element;
  });
  return x && add("floor", x->getType(), x);
}

bool Drawing::drawBinary() {
  static constexpr llvm::StringLiteral names[] = {"add", "sub",     "mul",
                                                  "div", "maximum", "minimum"};
  const Known *x = drawFloat();
  if (!x)
    return false;
  const Known *y = chance(10) ? x : &drawOperand(*x);
  RankedTensorType type = x->getType();
  if (chance(30))
    std::swap(x, y);
  return add(any(names), type, {x, y});
}

/// Both operands broadcast. The next op often changes the shape.
bool Drawing::drawOuter() {
  static constexpr llvm::StringLiteral names[] = {"add", "sub", "mul",
                                                  "maximum", "minimum"};
  const Known *x = drawFloat(1);
  if (!x)
    return false;
  Shape shape(x->shape()), other(x->shape());
  for (auto [size, own] : llvm::zip_equal(shape, other)) {
    if (size == 1 && ShapedType::getNumElements(shape) <= 256)
      size = own = 2 + below(7);
    else if (chance(60))
      own = 1;
  }
  if (shape == x->shape() || shape == other)
    return false;
  const Known *y = &addArgument(other, element);
  if (chance(30))
    std::swap(x, y);
  if (!add(any(names), withShape(shape, element), {x, y}))
    return false;
  const Known *outer = &known.back();
  switch (below(4)) {
  case 0:
    shape.insert(shape.begin() + below(shape.size() + 1), 1);
    return add("reshape", withShape(shape, element), outer);
  case 1:
    return add("reshape", withShape(ShapedType::getNumElements(shape), element),
               outer);
  case 2:
    return addTranspose(*outer, drawPermutation(outer->rank()));
  default:
    return true;
  }
}

bool Drawing::drawPower() {
  static constexpr double exponents[] = {2, 3, 0.5, -1, -2, 1.5, 0};
  const Known *x = drawFloat();
  double exponent = any(exponents);
  if (!x || (exponent != std::floor(exponent) && x->least() < 0.1) ||
      (exponent < 0 && x->least() < 0.1))
    return false;
  auto scalar = withShape({}, element);
  return addConstant(scalar, Attribute(b.getFloatAttr(element, exponent))) &&
         add("pow", x->getType(), {x, &known.back()});
}

bool Drawing::drawCompare() {
  const Known *x = drawKnown([](const Known &value) {
    return value.isExact && !value.getType().getElementType().isInteger(1);
  });
  if (!x)
    return false;
  const Known &y = drawOperand(*x);
  auto predicate = ComparisonAttr::get(b.getContext(), Comparison(below(6)));
  return y.isExact && add("compare", withShape(x->shape(), b.getI1Type()),
                          {x, &y}, b.getNamedAttr("predicate", predicate));
}

bool Drawing::drawLogical() {
  const Known *x = drawKnown([](const Known &value) {
    return value.getType().getElementType().isInteger(1);
  });
  if (!x)
    return false;
  if (chance(30))
    return add("logical_not", x->getType(), x);
  return add(chance(50) ? "logical_and" : "logical_or", x->getType(),
             {x, &drawOperand(*x)});
}

bool Drawing::drawSelect() {
  const Known *x = drawFloat();
  if (!x)
    return false;
  const Known *y = &drawOperand(*x);
  RankedTensorType type = x->getType();
  const Known *condition = drawKnown([&](const Known &value) {
    return value.getType().getElementType().isInteger(1) &&
           value.shape() == x->shape();
  });
  if (!condition)
    condition = &addArgument(drawBroadcast(x->shape()), b.getI1Type());
  if (chance(50))
    std::swap(x, y);
  return add("select", type, {condition, x, y});
}

bool Drawing::drawCast() {
  const Known *x = drawKnown([](const Known &value) { return value.isExact; });
  Type types[] = {b.getI1Type(),  b.getI32Type(), b.getI64Type(),
                  b.getF32Type(), b.getF64Type(), element};
  return x && add("cast", withShape(x->shape(), any(types)), x);
}

bool Drawing::drawConstant() {
  Shape shape;
  const Known *like = drawFloat();
  if (like && chance(80))
    shape = drawBroadcast(like->shape());
  auto type = withShape(shape, element);
  SmallVector<Attribute> values;
  for (int64_t n = chance(40) ? 1 : type.getNumElements(); n > 0; --n)
    values.push_back(b.getFloatAttr(element, double(below(17) - 8) / 4));
  return addConstant(type, values);
}

bool Drawing::addConstant(RankedTensorType type, ArrayRef<Attribute> values) {
  return add("constant", type, {},
             b.getNamedAttr("value", DenseElementsAttr::get(type, values)));
}

/// Adds or subtracts 0, multiplies or divides by 1.
bool Drawing::drawNeutral() {
  static constexpr llvm::StringLiteral names[] = {"add", "sub", "mul", "div"};
  const Known *x = drawFloat();
  int64_t op = below(4);
  return x &&
         addConstant(withShape(drawBroadcast(x->shape()), element),
                     Attribute(b.getFloatAttr(element, op < 2 ? 0 : 1))) &&
         add(names[op], x->getType(), {x, &known.back()});
}

/// Permutations, often those of images, between channels first and channels
/// last.
SmallVector<int64_t> Drawing::drawPermutation(int64_t rank) {
  if (rank == 4 && chance(60))
    return chance(60) ? Shape{0, 3, 1, 2} : Shape{0, 2, 3, 1};
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  for (int64_t i = rank - 1; i > 0; --i)
    std::swap(permutation[i], permutation[below(i + 1)]);
  return permutation;
}

bool Drawing::addTranspose(const Known &x, ArrayRef<int64_t> permutation) {
  Shape shape;
  for (int64_t d : permutation)
    shape.push_back(x.shape()[d]);
  return add(
      "transpose", withShape(shape, x.getType().getElementType()), &x,
      b.getNamedAttr("permutation", b.getDenseI64ArrayAttr(permutation)));
}

bool Drawing::drawTranspose() {
  const Known *x = drawKnown([](const Known &v) { return v.rank() >= 1; });
  if (!x || !addTranspose(*x, drawPermutation(x->rank())))
    return false;
  return !chance(40) || dropDimension(known.back());
}

/// Drops a dimension of size 1.
bool Drawing::dropDimension(const Known &x) {
  Shape shape(x.shape());
  auto *single = llvm::find(shape, 1);
  if (single == shape.end())
    return false;
  shape.erase(single);
  return add("reshape", withShape(shape, x.getType().getElementType()), &x);
}

/// Joins or splits dimensions, or makes them of size 1.
bool Drawing::drawReshape() {
  const Known *x = drawKnown([](const Known &) { return true; });
  if (!x)
    return false;
  Shape shape(x->shape());
  if (chance(30))
    return dropDimension(*x);
  for (int64_t times = 1 + below(3); times > 0; --times) {
    int64_t i = below(shape.size() + 1);
    if (chance(30) && shape.size() < 5) {
      shape.insert(shape.begin() + i, 1);
    } else if (i + 1 < int64_t(shape.size()) && chance(50)) {
      shape[i] *= shape[i + 1];
      shape.erase(shape.begin() + i + 1);
    } else if (i < int64_t(shape.size()) && shape.size() < 5) {
      for (int64_t factor : {2, 3})
        if (shape[i] % factor == 0) {
          shape[i] /= factor;
          shape.insert(shape.begin() + i, factor);
          break;
        }
    }
  }
  return add("reshape", withShape(shape, x->getType().getElementType()), x);
}

bool Drawing::drawBroadcastOp() {
  Shape shape = drawShape();
  return add("broadcast", withShape(shape, element),
             &addArgument(drawBroadcast(shape), element));
}

bool Drawing::drawSlice() {
  const Known *x = drawKnown([](const Known &v) { return v.rank() >= 1; });
  if (!x)
    return false;
  int64_t axis = below(x->rank());
  Shape shape(x->shape());
  int64_t start = below(shape[axis]);
  shape[axis] = 1 + below(shape[axis] - start);
  return add("slice", withShape(shape, x->getType().getElementType()), x,
             {named("axis", axis), named("start", start)});
}

/// Takes all of a value apart into two or three slices.
bool Drawing::drawParts() {
  const Known *x = drawKnown([](const Known &v) { return v.rank() >= 1; });
  if (!x)
    return false;
  int64_t axis = below(x->rank()), size = x->shape()[axis];
  Shape shape(x->shape());
  for (int64_t start = 0, part = 0; start < size; start += shape[axis]) {
    shape[axis] = part++ == 2 ? size - start : 1 + below(size - start);
    if (!add("slice", withShape(shape, x->getType().getElementType()), x,
             {named("axis", axis), named("start", start)}))
      return false;
  }
  return true;
}

bool Drawing::drawSplit() {
  const Known *x = drawKnown([](const Known &v) { return v.rank() >= 1; });
  if (!x)
    return false;
  int64_t axis = below(x->rank()), left = x->shape()[axis];
  SmallVector<Type> types;
  while (left > 0) {
    Shape shape(x->shape());
    shape[axis] = types.size() == 2 ? left : 1 + below(left);
    left -= shape[axis];
    types.push_back(withShape(shape, x->getType().getElementType()));
  }
  return add("split", types, x, named("axis", axis));
}

bool Drawing::drawPad() {
  const Known *x = drawFloat(1);
  if (!x)
    return false;
  int64_t axis = below(x->rank()), start = below(4);
  Shape shape(x->shape());
  shape[axis] += start + below(4);
  return add("pad", withShape(shape, element), x,
             {named("axis", axis), named("start", start)});
}

bool Drawing::drawConcat() {
  const Known *x = drawFloat(1);
  if (!x)
    return false;
  int64_t axis = below(x->rank());
  SmallVector<const Known *> parts = {x};
  Shape shape(x->shape());
  for (int64_t more = 1 + below(2); more > 0; --more) {
    const Known *part = drawKnown([&](const Known &value) {
      Shape own(value.shape()), other(x->shape());
      if (!isFloat(value) || value.getType().getElementType() != element ||
          own.size() != other.size())
        return false;
      own[axis] = other[axis];
      return own == other;
    });
    parts.push_back(part);
    shape[axis] += part->shape()[axis];
  }
  if (chance(30))
    std::swap(parts.front(), parts.back());
  return ShapedType::getNumElements(shape) <= 4096 &&
         add("concat", withShape(shape, element), parts, named("axis", axis));
}

bool Drawing::drawReduction() {
  const Known *x = drawFloat(1);
  if (!x)
    return false;
  SmallVector<int64_t> axes;
  Shape shape(x->shape());
  bool onlyLast = chance(40);
  for (int64_t axis = 0; axis < x->rank(); ++axis)
    if (onlyLast ? axis + 1 == x->rank() : chance(50)) {
      axes.push_back(axis);
      shape[axis] = 1;
    }
  return add(chance(60) ? "reduce_sum" : "reduce_max",
             withShape(shape, element), x,
             b.getNamedAttr("axes", b.getDenseI64ArrayAttr(axes)));
}

bool Drawing::drawRows() {
  const Known *x = drawFloat(1);
  return x && add(chance(50) ? "softmax" : "log_softmax", x->getType(), x);
}

bool Drawing::drawLayerNorm() {
  const Known *x = drawFloat(1);
  if (!x)
    return false;
  Shape rows(x->shape());
  rows.back() = 1;
  const Known &scale = addArgument(x->shape().back(), element);
  const Known &bias = addArgument(x->shape().back(), element);
  auto row = withShape(rows, element);
  return add("layer_norm", {x->getType(), row, row}, {x, &scale, &bias},
             named("epsilon", 0.1));
}

bool Drawing::drawGather() {
  const Known *table = drawKnown([](const Known &x) { return x.rank() >= 1; });
  if (!table)
    return false;
  int64_t batchDims = chance(50) ? 0 : below(table->rank());
  Shape shape(ArrayRef(table->shape()).take_front(batchDims)),
      own = drawShape();
  llvm::append_range(shape, ArrayRef(own).take_front(2));
  Type index = chance(50) ? b.getI64Type() : b.getI32Type();
  if (ShapedType::getNumElements(shape) > 1024)
    return false;
  const Known &indices = addArgument(shape, index, table->shape()[batchDims]);
  llvm::append_range(shape, ArrayRef(table->shape()).drop_front(batchDims + 1));
  return ShapedType::getNumElements(shape) <= 4096 &&
         add("gather", withShape(shape, table->getType().getElementType()),
             {table, &indices}, named("batch_dims", batchDims));
}

bool Drawing::drawScatterAdd() {
  const Known *updates = drawFloat();
  if (!updates)
    return false;
  int64_t indexRank = below(updates->rank() + 1), rows = 1 + below(9);
  int64_t batchDims = chance(50) ? 0 : below(indexRank + 1);
  Shape shape(ArrayRef(updates->shape()).take_front(batchDims));
  shape.push_back(rows);
  llvm::append_range(shape, ArrayRef(updates->shape()).drop_front(indexRank));
  const Known &indices = addArgument(
      ArrayRef(updates->shape()).take_front(indexRank), b.getI64Type(), rows);
  return add("scatter_add", withShape(shape, element), {&indices, updates},
             named("batch_dims", batchDims));
}

bool Drawing::drawOneHot() {
  Shape shape = drawShape();
  shape.resize(std::min<size_t>(shape.size(), 2));
  int64_t columns = 1 + below(9);
  const Known &indices = addArgument(shape, b.getI64Type(), columns + 1);
  shape.push_back(columns);
  return add("one_hot", withShape(shape, b.getI1Type()), &indices);
}

bool Drawing::drawRandom() {
  const Known &seed = addArgument({}, b.getI64Type(), 1 << 20);
  const Known &number = addArgument({}, b.getI64Type(), 1000);
  const Known *like = drawFloat();
  if (!add("cast", withShape({}, b.getF64Type()), &number))
    return false;
  const Known &step = known.back();
  return add("random_uniform", like ? like->getType() : withShape({}, element),
             {&seed, &step}, named("id", below(100)));
}

bool Drawing::drawLoss() {
  const Known *x = drawFloat(1);
  if (!x)
    return false;
  auto scalar = withShape({}, b.getF64Type());
  switch (below(4)) {
  case 0:
    return add("sum_squares", scalar, x);
  case 1:
    return add("squared_error", scalar, {x, &addArgument(x->shape(), element)});
  default:
    break;
  }
  const Known &labels = addArgument(ArrayRef(x->shape()).drop_back(),
                                    b.getI64Type(), x->shape().back());
  SmallVector<NamedAttribute> ignored;
  if (chance(50))
    ignored.push_back(named("ignore_index", int64_t(0)));
  if (chance(50))
    return add("cross_entropy", scalar, {x, &labels}, ignored);
  const Known &scale = addArgument({}, b.getF64Type());
  return add("cross_entropy_grad", x->getType(), {x, &labels, &scale}, ignored);
}

/// An equal op: a common subexpression.
bool Drawing::drawAgain() {
  SmallVector<Operation *> ops;
  for (Operation &op : function.front().without_terminator())
    ops.push_back(&op);
  if (ops.empty())
    return false;
  Operation *op = any(ops);
  SmallVector<const Known *> operands;
  for (Value operand : op->getOperands())
    operands.push_back(&*llvm::find_if(
        known, [&](const Known &k) { return k.value == operand; }));
  return add(op->getName().stripDialect(),
             llvm::to_vector(op->getResultTypes()), operands,
             op->getAttrDictionary().getValue());
}

/// Overwrites new arguments.
bool Drawing::drawUpdate() {
  const Known *x = drawFloat();
  if (!x)
    return false;
  RankedTensorType type = x->getType();
  const Known &target = addArgument(x->shape(), element);
  switch (below(3)) {
  case 0:
    return add("accumulate", type, {x, &target});
  case 1:
    return add("average", type, {&target, x}, named("decay", 0.75));
  default:
    break;
  }
  const Known &lr = addArgument({}, b.getF64Type());
  const Known &state = addArgument(x->shape(), element);
  return add("sgd", {type, type}, {&target, x, &lr, &state},
             {named("momentum", 0.5), named("weight_decay", 0.25)});
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// Returns all unused values, and some others.
void Drawing::finish() {
  SmallVector<Value> returned;
  for (const Known &k : known)
    if (k.value.getDefiningOp() && (k.value.use_empty() || chance(20)))
      returned.push_back(k.value);
  function.front().getTerminator()->setOperands(returned);
  function.setType(b.getFunctionType(function.front().getArgumentTypes(),
                                     ValueRange(returned).getTypes()));
}

KernelCase Drawing::draw() {
  addArgument(drawShape(), element);
  using Draw = bool (Drawing::*)();
  // Each entry has the same probability.
  static constexpr Draw draws[] = {
      &Drawing::drawUnary,      &Drawing::drawUnary,
      &Drawing::drawUnary,      &Drawing::drawBinary,
      &Drawing::drawBinary,     &Drawing::drawBinary,
      &Drawing::drawBinary,     &Drawing::drawOuter,
      &Drawing::drawOuter,      &Drawing::drawFloor,
      &Drawing::drawPower,      &Drawing::drawCompare,
      &Drawing::drawLogical,    &Drawing::drawSelect,
      &Drawing::drawCast,       &Drawing::drawConstant,
      &Drawing::drawNeutral,    &Drawing::drawReshape,
      &Drawing::drawTranspose,  &Drawing::drawTranspose,
      &Drawing::drawReshape,    &Drawing::drawBroadcastOp,
      &Drawing::drawSlice,      &Drawing::drawSlice,
      &Drawing::drawParts,      &Drawing::drawSplit,
      &Drawing::drawPad,        &Drawing::drawPad,
      &Drawing::drawConcat,     &Drawing::drawConcat,
      &Drawing::drawReduction,  &Drawing::drawReduction,
      &Drawing::drawReduction,  &Drawing::drawRows,
      &Drawing::drawLayerNorm,  &Drawing::drawGather,
      &Drawing::drawScatterAdd, &Drawing::drawOneHot,
      &Drawing::drawLoss,       &Drawing::drawRandom,
      &Drawing::drawAgain};
  for (int64_t left = 2 + below(14); left > 0; --left)
    (this->*any(draws))();
  if (chance(20))
    drawUpdate();
  finish();
  return std::move(result);
}

KernelCase dtc::drawKernel(MLIRContext &context, uint64_t seed) {
  return Drawing(context, seed).draw();
}
