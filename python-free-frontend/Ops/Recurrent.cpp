//===- Recurrent.cpp - import of recurrent layers -------------------------===//
//
// RNN, GRU and LSTM, one position after the other. One product computes the
// contribution of the inputs to the gates at all positions. Each position adds
// the contribution of the state before it. The equations are those of ONNX.
//
//===----------------------------------------------------------------------===//

#include "Ops/MatMul.h"
#include "Ops/Operators.h"
#include "Ops/RecurrentActivation.h"
#include "Ops/Take.h"

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
/// Operands of LSTM. GRU and RNN have them up to InitialHidden.
enum { X, W, R, B, Lengths, InitialHidden, InitialCell, Peepholes };

/// The state before or after a position, [batch, hidden]; null means zeros.
/// Only an LSTM has a cell.
struct State {
  Value hidden, cell;
};

/// The weights of one direction.
class Cell {
public:
  NodeBuilder &node;
  int64_t hidden;
  ArrayRef<int64_t> places; ///< positions of ONNX's gates in the weights
  Value recurrence;         ///< [gates * hidden, hidden]
  Value recurrentBias;      ///< [gates * hidden]; null if there is none
  Value peepholes;          ///< [3 * hidden]; null if there are none
  ArrayRef<Activation> activations;
  double clip; ///< bound of activations; 0 if there is none

  /// Position of the first of `count` adjacent gates, from gate `first` on.
  int64_t findPlace(int64_t first, int64_t count) const {
    return *llvm::min_element(places.slice(first, count));
  }
  /// Selects gates of `x`, whose last dimension has all gates from position
  /// `from` on.
  Value gates(Value x, int64_t first, int64_t count = 1,
              int64_t from = 0) const {
    return node.slice(x, node.shapeOf(x).size() - 1,
                      (findPlace(first, count) - from) * hidden,
                      count * hidden);
  }
  /// The contribution of a state to some gates.
  Value recur(Value state, int64_t first, int64_t count) const {
    Value rows = node.slice(recurrence, 0, findPlace(first, count) * hidden,
                            count * hidden);
    return buildProduct(node, state, false, rows, true);
  }
  Value activate(unsigned i, Value x) const {
    if (clip > 0) {
      Value least = node.scalar(-clip, x), most = node.scalar(clip, x);
      x = node.select(node.compare(Comparison::le, x, least), least, x);
      x = node.select(node.compare(Comparison::ge, x, most), most, x);
    }
    return activations[i](node, x);
  }
  /// Applies the activation of a gate, after adding peephole `i` of the cell.
  Value activateGate(Value x, unsigned i, Value cell) const {
    if (peepholes && cell)
      x = node.add(
          x, node.mul(cell, node.slice(peepholes, 0, i * hidden, hidden)));
    return activate(0, x);
  }
  Value oneMinus(Value x) const { return node.sub(node.scalar(1, x), x); }
};

/// Returns the state after a position. `x` [batch, gates * hidden] is the
/// contribution of the inputs to the gates.
using StepRule = State (*)(const Cell &, Value x, State before);

State stepRnn(const Cell &cell, Value x, State before) {
  if (before.hidden)
    x = cell.node.add(x, cell.recur(before.hidden, 0, 1));
  return {cell.activate(0, x), {}};
}

/// The gates are z, r and h.
State stepGru(const Cell &cell, Value x, State before) {
  NodeBuilder &node = cell.node;
  bool resetsProduct = node.call.getInt("linear_before_reset", 0);
  Value state = before.hidden, opening = cell.gates(x, 0, 2),
        candidate = cell.gates(x, 2), product;
  if (state && resetsProduct) {
    Value all = cell.recur(state, 0, 3);
    opening = node.add(opening, cell.gates(all, 0, 2));
    product = cell.gates(all, 2);
  } else if (state) {
    opening = node.add(opening, cell.recur(state, 0, 2));
  }
  int64_t from = cell.findPlace(0, 2);
  Value update = cell.activate(0, cell.gates(opening, 0, 1, from));
  Value reset = cell.activate(0, cell.gates(opening, 1, 1, from));
  if (resetsProduct && cell.recurrentBias) {
    Value bias = cell.gates(cell.recurrentBias, 2);
    product = product ? node.add(product, bias) : bias;
  } else if (state && !resetsProduct) {
    product = cell.recur(node.mul(reset, state), 2, 1);
  }
  if (product)
    candidate =
        node.add(candidate, resetsProduct ? node.mul(reset, product) : product);
  Value result = node.mul(cell.oneMinus(update), cell.activate(1, candidate));
  if (state)
    result = node.add(result, node.mul(update, state));
  return {result, {}};
}

/// The gates are i, o, f and c.
State stepLstm(const Cell &cell, Value x, State before) {
  NodeBuilder &node = cell.node;
  if (before.hidden)
    x = node.add(x, cell.recur(before.hidden, 0, 4));
  Value input = cell.activateGate(cell.gates(x, 0), 0, before.cell);
  Value after = node.mul(input, cell.activate(1, cell.gates(x, 3)));
  if (before.cell) {
    bool isCoupled = node.call.getInt("input_forget", 0);
    Value forget = isCoupled
                       ? cell.oneMinus(input)
                       : cell.activateGate(cell.gates(x, 2), 2, before.cell);
    after = node.add(node.mul(forget, before.cell), after);
  }
  Value output = cell.activateGate(cell.gates(x, 1), 1, after);
  // The bound applies to gates only, as in ONNX Runtime.
  return {node.mul(output, cell.activations[2](node, after)), after};
}

/// An operator: its gates, and its default activations.
struct Kind {
  int64_t gates;
  StepRule step;
  ArrayRef<StringRef> activations;
  bool hasCell;
};

class Layer {
public:
  Layer(NodeBuilder &node, const Kind &kind) : node(node), kind(kind) {}
  Error import();

private:
  Error readSizes();
  Error checkOperand(unsigned i, StringRef what,
                     ArrayRef<int64_t> expected) const;
  Error readActivations();
  /// Whether each sample has each position, [steps, batch, 1]. Null if all
  /// samples have all positions.
  Expected<Value> findPresent();
  /// An initial state of the node; null if it is zero.
  Value initial(unsigned i, int64_t direction);
  /// Selects a direction of an operand, and drops that dimension.
  Value pick(Value x, int64_t direction);
  /// Finds one direction of W or R. Prefers the value before a file reordered
  /// its gates. `places` becomes the positions of ONNX's gates.
  Value findWeights(unsigned i, int64_t direction,
                    SmallVectorImpl<int64_t> &places);
  /// Runs a direction. `outputs` becomes its result at each position.
  State run(int64_t direction, Value x, Value present,
            SmallVectorImpl<Value> &outputs);
  /// Joins the final states of all directions.
  Value stack(ArrayRef<Value> states);

  NodeBuilder &node;
  Kind kind;
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  bool isBatchFirst = false, startsAtEnd = false;
  SmallVector<Activation> activations;
};

Error Layer::checkOperand(unsigned i, StringRef what,
                          ArrayRef<int64_t> expected) const {
  const Call &call = node.call;
  if (!call.hasOperand(i))
    return Error::success();
  if (call.shape(i) != expected)
    return problem(what + " is " + toString(call.shape(i)) + ", expected " +
                       toString(expected),
                   i == InitialCell
                       ? "PyTorch's exporter writes this for layers with "
                         "proj_size, which ONNX lacks"
                       : "the model is not valid ONNX; export it again");
  if (i == Lengths)
    return Error::success();
  if (call.operands[i].dtype != call.operands[X].dtype)
    return problem(what + " is " + toString(call.operands[i].dtype) +
                       ", but X is " + toString(call.operands[X].dtype),
                   "the model is not valid ONNX; export it again");
  return node.requireFloat(i);
}

Error Layer::readSizes() {
  const Call &call = node.call;
  StringRef name = call.getString("direction", "forward");
  if (name != "forward" && name != "reverse" && name != "bidirectional")
    return problem("direction is '" + name +
                   "', expected 'forward', 'reverse' or 'bidirectional'");
  startsAtEnd = name == "reverse";
  directions = name == "bidirectional" ? 2 : 1;
  int64_t layout = call.getInt("layout", 0);
  if (layout != 0 && layout != 1)
    return problem("layout is " + Twine(layout) + ", expected 0 or 1");
  isBatchFirst = layout == 1;
  if (const auto *clip = call.attribute("clip"); clip && !(clip->f() > 0))
    return problem("clip is not positive", "remove it if there is no bound");
  for (unsigned i : {X, W, R})
    if (call.rank(i) != 3)
      return problem("operand " + Twine(i) + " is " + toString(call.shape(i)) +
                     ", expected rank 3");
  steps = call.shape(X)[isBatchFirst ? 1 : 0];
  batch = call.shape(X)[isBatchFirst ? 0 : 1];
  inputs = call.shape(X)[2];
  hidden = call.shape(R)[2];
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  constexpr int64_t mostSteps = 16; // a fuzzer tries many models
#else
  constexpr int64_t mostSteps = 1 << 14;
#endif
  if (steps < 1 || steps > mostSteps)
    return problem("X is " + toString(call.shape(X)) + ": " + Twine(steps) +
                       " positions, expected 1 to " + Twine(mostSteps),
                   "each position becomes separate ops; shorten the sequences");
  if (call.getInt("hidden_size", hidden) != hidden)
    return problem("hidden_size is " + Twine(call.getInt("hidden_size", 0)) +
                   ", but R is " + toString(call.shape(R)));

  Shape state = {directions, batch, hidden};
  if (isBatchFirst)
    std::swap(state[0], state[1]);
  int64_t rows = kind.gates * hidden;
  struct {
    unsigned i;
    StringRef name;
    Shape shape;
  } expected[] = {{X, "X", Shape(call.shape(X))},
                  {W, "W", {directions, rows, inputs}},
                  {R, "R", {directions, rows, hidden}},
                  {B, "B", {directions, 2 * rows}},
                  {Lengths, "sequence_lens", {batch}},
                  {InitialHidden, "initial_h", state},
                  {InitialCell, "initial_c", state},
                  {Peepholes, "P", {directions, 3 * hidden}}};
  for (const auto &[i, what, shape] : expected)
    if (Error error = checkOperand(i, what, shape))
      return error;
  return Error::success();
}

Error Layer::readActivations() {
  const Call &call = node.call;
  SmallVector<StringRef> names;
  if (const auto *given = call.attribute("activations"))
    names.append(given->strings().begin(), given->strings().end());
  if (names.empty())
    for (int64_t i = 0; i < directions; ++i)
      append_range(names, kind.activations);
  if (names.size() != directions * kind.activations.size())
    return problem("has " + Twine(names.size()) + " activations, expected " +
                   Twine(directions * kind.activations.size()));
  auto numbers = [&](StringRef name) {
    const auto *given = call.attribute(name);
    return given
               ? ArrayRef<float>(given->floats().data(), given->floats().size())
               : ArrayRef<float>();
  };
  ArrayRef<float> alphas = numbers("activation_alpha");
  ArrayRef<float> betas = numbers("activation_beta");
  for (StringRef name : names) {
    Activation activation = findActivation(name, alphas, betas);
    if (!activation)
      return problem("activation '" + name + "' is not supported",
                     "use Sigmoid, Tanh, Relu or another one of ONNX's");
    activations.push_back(activation);
  }
  return Error::success();
}

Expected<Value> Layer::findPresent() {
  const Call &call = node.call;
  if (!call.hasOperand(Lengths))
    return Value();
  const Operand &lengths = call.operands[Lengths];
  if (isFloat(lengths.dtype))
    return problem("sequence_lens is " + toString(lengths.dtype) +
                   ", expected integers");
  if (lengths.constant) {
    std::vector<int64_t> known = lengths.constant->toInts();
    for (int64_t length : known)
      if (length < 0 || length > steps)
        return problem("sequence_lens has " + Twine(length) +
                       ", expected 0 to " + Twine(steps));
    if (all_of(known, [&](int64_t length) { return length == steps; }))
      return Value();
  }
  Value each = node.reshape(node.operand(Lengths), {1, batch, 1});
  Value position = node.countAlong(steps, 0, 3, lengths.dtype);
  return node.compare(Comparison::lt, position, each);
}

Value Layer::pick(Value x, int64_t direction) {
  Shape shape(node.shapeOf(x));
  shape.erase(shape.begin());
  if (directions > 1)
    x = node.slice(x, 0, direction, 1);
  return node.reshape(x, shape);
}

namespace {
/// A range of rows of a value.
struct Rows {
  Value of;
  int64_t first, count;
};
} // namespace

/// Finds the values and ranges that the rows of `value` come from, in order.
static void collectRows(Value value, SmallVectorImpl<Rows> &rows) {
  auto sizesOf = [](Value x) {
    return cast<mlir::RankedTensorType>(x.getType()).getShape();
  };
  if (auto reshape = value.getDefiningOp<ReshapeOp>();
      reshape && !sizesOf(reshape.getX()).empty() &&
      sizesOf(reshape.getX()).back() == sizesOf(value).back())
    return collectRows(reshape.getX(), rows);
  if (auto concat = value.getDefiningOp<ConcatOp>();
      concat && concat.getAxis() == 0) {
    for (Value part : concat.getParts())
      collectRows(part, rows);
    return;
  }
  auto slice = value.getDefiningOp<SliceOp>();
  if (slice && slice.getAxis() == 0)
    rows.push_back(
        {slice.getX(), int64_t(slice.getStart()), sizesOf(value).front()});
  else
    rows.push_back({value, 0, llvm::product_of(sizesOf(value).drop_back())});
}

Value Layer::findWeights(unsigned i, int64_t direction,
                         SmallVectorImpl<int64_t> &places) {
  SmallVector<Rows> all;
  collectRows(node.operand(i), all);
  int64_t rows = kind.gates * hidden, row = -direction * rows;
  Value weights;
  for (const Rows &part : all) {
    if (row >= 0 && row < rows) {
      if ((weights && weights != part.of) || part.first % hidden != 0 ||
          part.count % hidden != 0)
        return {};
      weights = part.of;
      for (int64_t k = 0; k < part.count / hidden; ++k)
        places.push_back(part.first / hidden + k);
    }
    row += part.count;
  }
  // Gates that are used together must be adjacent.
  bool isOrder = int64_t(places.size()) == kind.gates &&
                 node.shapeOf(weights).size() == 2 &&
                 node.shapeOf(weights)[0] == rows &&
                 (kind.gates != 3 || places[2] != 1);
  for (int64_t gate = 0; gate < kind.gates; ++gate)
    isOrder &= llvm::is_contained(places, gate);
  return isOrder ? weights : Value();
}

Value Layer::initial(unsigned i, int64_t direction) {
  const Call &call = node.call;
  if (!call.hasOperand(i))
    return Value();
  if (const HostTensor *known = call.operands[i].constant) {
    bool isZero = true;
    for (int64_t k = 0; k < known->size(); ++k)
      isZero &= known->getFloat(k) == 0;
    if (isZero)
      return Value();
  }
  Value x = node.operand(i);
  return pick(isBatchFirst ? node.swapDims(x, 0, 1) : x, direction);
}

State Layer::run(int64_t direction, Value x, Value present,
                 SmallVectorImpl<Value> &outputs) {
  const Call &call = node.call;
  int64_t rows = kind.gates * hidden;
  SmallVector<int64_t> places, placesOfState;
  Value weights = findWeights(W, direction, places);
  Value recurrence = findWeights(R, direction, placesOfState);
  if (!weights || !recurrence || places != placesOfState) {
    weights = pick(node.operand(W), direction);
    recurrence = pick(node.operand(R), direction);
    places = to_vector(seq<int64_t>(0, kind.gates));
  }
  Cell cell{
      node,
      hidden,
      places,
      recurrence,
      Value(),
      Value(),
      ArrayRef(activations)
          .slice(direction * kind.activations.size(), kind.activations.size()),
      call.getFloat("clip", 0)};
  Value projected = buildProduct(node, node.reshape(x, {steps * batch, inputs}),
                                 false, weights, true);
  if (call.hasOperand(B)) {
    Value both = pick(node.operand(B), direction);
    auto take = [&](int64_t first) {
      if (is_sorted(places))
        return node.slice(both, 0, first, rows);
      SmallVector<Value> gates(kind.gates);
      for (auto [gate, place] : enumerate(places))
        gates[place] = node.slice(both, 0, first + gate * hidden, hidden);
      return join(node, gates, 0);
    };
    Value bias = take(0), recurrentBias = take(rows);
    // A GRU may scale the sum of the state's contribution and this bias by its
    // reset gate.
    cell.recurrentBias = recurrentBias;
    if (call.getInt("linear_before_reset", 0)) {
      Value opening =
          node.add(cell.gates(bias, 0, 2), cell.gates(recurrentBias, 0, 2));
      Value candidate = cell.gates(bias, 2);
      bias = places[2] == 0 ? join(node, {candidate, opening}, 0)
                            : join(node, {opening, candidate}, 0);
    } else {
      bias = node.add(bias, recurrentBias);
    }
    projected = node.add(projected, bias);
  }
  if (call.hasOperand(Peepholes))
    cell.peepholes = pick(node.operand(Peepholes), direction);

  State state = {initial(InitialHidden, direction),
                 kind.hasCell ? initial(InitialCell, direction) : Value()};
  projected = node.reshape(projected, {steps, batch, rows});
  outputs.resize(steps);
  bool fromEnd = startsAtEnd || direction == 1;
  for (int64_t i = 0; i < steps; ++i) {
    int64_t position = fromEnd ? steps - 1 - i : i;
    Value here =
        node.reshape(node.slice(projected, 0, position, 1), {batch, rows});
    State after = kind.step(cell, here, state);
    Value output = after.hidden;
    if (present) {
      Value isPresent =
          node.reshape(node.slice(present, 0, position, 1), {batch, 1});
      Value zero = node.scalar(0, output);
      auto keep = [&](Value now, Value before) {
        return node.select(isPresent, now, before ? before : zero);
      };
      output = keep(after.hidden, {});
      after.hidden = keep(after.hidden, state.hidden);
      if (after.cell)
        after.cell = keep(after.cell, state.cell);
    }
    state = after;
    outputs[position] = output;
  }
  return state;
}

Value Layer::stack(ArrayRef<Value> states) {
  SmallVector<Value> parts;
  for (Value state : states)
    parts.push_back(node.reshape(state, {1, batch, hidden}));
  Value all = join(node, parts, 0);
  return isBatchFirst ? node.swapDims(all, 0, 1) : all;
}

Error Layer::import() {
  if (Error error = readSizes())
    return error;
  if (Error error = readActivations())
    return error;
  Expected<Value> present = findPresent();
  if (!present)
    return present.takeError();
  Value x = node.operand(X);
  if (isBatchFirst)
    x = node.swapDims(x, 0, 1);

  SmallVector<Value> all, hiddens, cells;
  for (int64_t i = 0; i < directions; ++i) {
    SmallVector<Value> outputs;
    State last = run(i, x, *present, outputs);
    for (Value &output : outputs)
      output = node.reshape(output, {1, 1, batch, hidden});
    all.push_back(join(node, outputs, 0));
    hiddens.push_back(last.hidden);
    cells.push_back(last.cell);
  }
  Value y = join(node, all, 1);
  node.setResult(0, isBatchFirst ? node.transpose(y, {2, 0, 1, 3}) : y);
  if (node.hasResult(1))
    node.setResult(1, stack(hiddens));
  if (node.hasResult(2))
    node.setResult(2, stack(cells));
  return Error::success();
}

constexpr StringRef rnnActivations[] = {"Tanh"};
constexpr StringRef gruActivations[] = {"Sigmoid", "Tanh"};
constexpr StringRef lstmActivations[] = {"Sigmoid", "Tanh", "Tanh"};

Error importRnn(NodeBuilder &node) {
  return Layer(node, {1, stepRnn, rnnActivations, false}).import();
}
Error importGru(NodeBuilder &node) {
  return Layer(node, {3, stepGru, gruActivations, false}).import();
}
Error importLstm(NodeBuilder &node) {
  return Layer(node, {4, stepLstm, lstmActivations, true}).import();
}

constexpr int lengths[] = {Lengths};
} // namespace

void addRecurrentOperators(OperatorTable &table) {
  table.add({
      {"RNN", 7, 3, 6,
       "activation_alpha activation_beta activations clip direction "
       "hidden_size layout",
       importRnn, lengths},
      {"GRU", 7, 3, 6,
       "activation_alpha activation_beta activations clip direction "
       "hidden_size layout linear_before_reset",
       importGru, lengths},
      {"LSTM", 7, 3, 8,
       "activation_alpha activation_beta activations clip direction "
       "hidden_size input_forget layout",
       importLstm, lengths},
  });
}

} // namespace dtc::frontend
