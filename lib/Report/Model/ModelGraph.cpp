//===- ModelGraph.cpp - a graph of the model for people -------------------===//
//
// Places ops by the names of their ONNX nodes: "/h.0/attn/c_attn/MatMul" is in
// module "attn.c_attn" of block "h.0". The name of a block ends at the first
// number of the path.
//
//===----------------------------------------------------------------------===//

#include "dtc/Report/ModelGraph.h"
#include "FoldRepeats.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/FindFunction.h"
#include "dtc/Dialect/StageAnalysis.h"
#include "dtc/Support/Axes.h"
#include "dtc/Support/ModulePath.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace mlir;
using namespace dtc;

std::string ModelGraph::Stage::getName() const {
  std::string number = std::to_string(first);
  if (last != first)
    return "stages " + number + " to " + std::to_string(last) + ", each like " +
           number;
  return "stage " + number + (chunk ? ", chunk " + std::to_string(*chunk) : "");
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// The part before the last dot; empty without one.
static std::string getParent(StringRef path) {
  size_t end = path.rfind('.');
  return path.take_front(end == StringRef::npos ? 0 : end).str();
}

/// "h.0.attn.c_attn" for an op of node "/h.0/attn/c_attn/MatMul".
static std::string getOpPath(Location location) {
  auto name = location->findInstanceOf<NameLoc>();
  return name ? dtc::getModulePath(name.getName().getValue()) : std::string();
}

/// Splits the path of a module into its block and its name in the block.
static std::pair<std::string, std::string> splitPath(StringRef path) {
  for (size_t begin = 0; begin < path.size();) {
    size_t end = std::min(path.find('.', begin), path.size());
    StringRef part = path.slice(begin, end);
    if (!part.empty() && llvm::all_of(part, llvm::isDigit))
      return {path.take_front(end).str(),
              path.drop_front(end).ltrim('.').str()};
    begin = end + 1;
  }
  return {path.str(), ""};
}

static std::string printShape(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text.empty() ? "scalar" : text;
}

/// Prints the splits of a layout, except for the batch.
static std::string printLayout(LayoutAttr layout) {
  std::string text;
  for (const AxisLayout &entry :
       layout ? layout.getEntries() : ArrayRef<AxisLayout>())
    if (entry.hasDim())
      text += (text.empty() ? "" : ", ") + entry.axis.str() + ": split(" +
              std::to_string(entry.dim) + ")";
  return text;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

namespace {

class GraphBuilder {
public:
  /// Boundaries and the analysis number virtual stages: number v is chunk v / K
  /// of stage v % K, where K is `numStages`.
  GraphBuilder(func::FuncOp step, const StageAnalysis &analysis,
               int64_t numStages)
      : step(step), analysis(analysis), numStages(numStages) {}

  ModelGraph build();

private:
  using Row = ModelGraph::Row;
  /// The position of a row, which stays valid when rows are added.
  struct Place {
    int64_t stage;
    size_t block, row;
  };

  bool isOfShards(Operation *op);
  void addStages();
  void findForward();
  std::string printMessage(BoundaryOp op);
  void addMessage(BoundaryOp op);
  void addForward(Operation *op);
  void addOther(Operation *op);
  void addParameters();
  void nameFunctional();
  void addParameter(int64_t stage, StringRef name, Type type,
                    DictionaryAttr part, const std::string &sharded);
  size_t getBlock(int64_t stage, const std::string &name, size_t lowest);
  Place getRow(int64_t stage, const std::string &path, size_t lowest);
  Row &at(const Place &place) {
    return graph.stages[place.stage].blocks[place.block].rows[place.row];
  }
  Row *findRow(int64_t stage, const std::string &path);

  func::FuncOp step;
  const StageAnalysis &analysis;
  int64_t numStages;
  ModelGraph graph;
  llvm::DenseSet<Operation *> forward;
  llvm::DenseSet<Value> labelled; ///< computed from labels
  /// The row that makes each value.
  llvm::DenseMap<Value, Place> places;
  /// Inputs of the model, and values that only change their form.
  llvm::DenseMap<Value, std::string> inputs;
  /// Rows of the nodes of each stage.
  std::map<std::pair<int64_t, std::string>, Place> rows;
  /// Stages and blocks of ops without a module, with the name of the first op.
  std::map<std::pair<int64_t, size_t>, std::string> functional;
  /// The module that first reads a parameter.
  llvm::StringMap<std::string> readers;
  /// Parameters, as they are or transposed.
  DenseMap<Value, StringRef> parameters;
};

} // namespace

/// Whether an op adds no information about the model.
static bool isPlumbing(Operation *op) {
  return isa<CollectiveOpInterface, ConstantOp, LocalSliceOp, BoundaryOp,
             ReshapeOp, TransposeOp, SliceOp, ConcatOp, CastOp, BroadcastOp,
             AsPartialOp, SumOverStagesOp, SumMicrobatchesOp>(op);
}

/// Whether an op runs per micro-batch; otherwise it runs once a step.
static bool isPerMicrobatch(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  return llvm::any_of(types, [](Type type) {
    LayoutAttr layout = getLayout(type);
    return layout && layout.isSplit(MeshAttr::timeAxis);
  });
}

/// Whether ZeRO inserted the collective: it gathers a bucket of parameters at
/// their use, or scatters the gradients of one.
bool GraphBuilder::isOfShards(Operation *op) {
  if (op->hasAttr(attr::perMicrobatch))
    return true;
  auto argument = dyn_cast<BlockArgument>(op->getOperand(0));
  return argument && isa<CollectiveOpInterface>(op) &&
         step.getArgAttr(argument.getArgNumber(), attr::gatheredAtUse);
}

void GraphBuilder::addStages() {
  int64_t numColumns = analysis.getNumStages();
  graph.stages.resize(numColumns);
  for (auto [i, stage] : llvm::enumerate(graph.stages)) {
    stage.first = stage.last = i % numStages;
    if (numColumns > numStages)
      stage.chunk = i / numStages;
  }
}

/// Finds the ops that the loss depends on.
void GraphBuilder::findForward() {
  Operation *end = step.front().getTerminator();
  SmallVector<Value> needed;
  for (OpOperand &operand : end->getOpOperands()) {
    auto name = step.getResultAttrOfType<StringAttr>(operand.getOperandNumber(),
                                                     attr::output);
    if (name && name == "loss")
      needed.push_back(operand.get());
  }
  while (!needed.empty()) {
    Operation *op = needed.pop_back_val().getDefiningOp();
    if (op && forward.insert(op).second)
      llvm::append_range(needed, op->getOperands());
  }
}

/// Returns the block of a module. A layer is one block. Other modules are one
/// block, too, unless an op would read from a later block; then the module gets
/// another block.
size_t GraphBuilder::getBlock(int64_t stage, const std::string &name,
                              size_t lowest) {
  std::vector<ModelGraph::Block> &all = graph.stages[stage].blocks;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].name == name && (i >= lowest || splitNumber(name).second >= 0))
      return i;
  all.push_back({name, name, 1, {}, {}, {}});
  return all.size() - 1;
}

ModelGraph::Row *GraphBuilder::findRow(int64_t stage, const std::string &path) {
  auto [name, row] = splitPath(path);
  for (ModelGraph::Block &block : graph.stages[stage].blocks)
    if (block.name == name)
      for (Row &own : block.rows)
        if (own.name == row)
          return &own;
  return nullptr;
}

/// Returns the row of a module. Each op of a layer itself is a row; any other
/// module is one row.
GraphBuilder::Place GraphBuilder::getRow(int64_t stage, const std::string &path,
                                         size_t lowest) {
  auto [name, row] = splitPath(path);
  size_t block = getBlock(stage, name, lowest);
  std::vector<Row> &all = graph.stages[stage].blocks[block].rows;
  if (!all.empty() && all.back().name == row)
    return {stage, block, all.size() - 1};
  for (size_t i = 0; i < all.size(); ++i)
    if (!row.empty() && all[i].name == row)
      return {stage, block, i};
  all.push_back({row, {}, {}, {}, {}});
  return {stage, block, all.size() - 1};
}

/// "Relu_1" of a node "/Relu_1", "relu_1" of dynamo's "node_relu_1".
static std::string getOwnName(StringRef node) {
  StringRef name = node.rsplit('/').second;
  if (name.empty())
    name = node;
  name.consume_front("node_");
  return name.str();
}

static std::string getNodeName(Operation *op) {
  auto name = op->getLoc()->findInstanceOf<NameLoc>();
  return name ? name.getName().str() : std::string();
}

/// Describes a message: its shape on a rank, and its peer if that is not the
/// next stage.
std::string GraphBuilder::printMessage(BoundaryOp op) {
  auto type = cast<RankedTensorType>(op.getX().getType());
  std::string text = printShape(getLocalType(type).getShape());
  LayoutAttr layout = getLayout(type);
  if (!layout || !layout.isSplit(MeshAttr::timeAxis))
    text += ", once a step";
  int64_t from = op.getFrom(), to = op.getTo();
  if (to > from + 1)
    text += ", to " + graph.stages[to].getName();
  if (from > to + 1)
    text += ", from " + graph.stages[from].getName();
  return text;
}

void GraphBuilder::addMessage(BoundaryOp op) {
  int64_t from = op.getFrom(), to = op.getTo();
  if (from % numStages == to % numStages)
    return; // chunks of one stage share it
  if (from < to)
    ++graph.stages[from].sends[printMessage(op)];
  else
    ++graph.stages[to].gradients[printMessage(op)];
}

void GraphBuilder::addForward(Operation *op) {
  if (auto boundary = dyn_cast<BoundaryOp>(op)) {
    if (boundary.getFrom() < boundary.getTo())
      addMessage(boundary);
    return;
  }
  std::optional<int64_t> stage;
  for (Value value : op->getResults())
    if (!stage)
      stage = analysis.getStage(value);
  bool isLabelled = llvm::any_of(
      op->getOperands(), [&](Value value) { return labelled.contains(value); });
  if (isLabelled)
    labelled.insert(op->result_begin(), op->result_end());
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  if (collective && isOfShards(op)) {
    ++graph.stages[stage.value_or(0)].shards[collective.getSummary()];
    return;
  }

  std::optional<Place> last; // last row that it reads from
  std::string input;
  for (Value operand : op->getOperands()) {
    auto place = places.find(operand);
    if (place != places.end() && place->second.stage == stage &&
        (!last || last->block <= place->second.block))
      last = place->second;
    if (auto found = inputs.find(operand); found != inputs.end())
      input = found->second;
  }
  // An op that adds no information belongs to the row of its operand. So does a
  // collective, which its reader may need.
  if (!stage || isPlumbing(op)) {
    if (collective && last)
      ++at(*last).forward[collective.getSummary()];
    StringRef parameter;
    if (op->getNumOperands() == 1)
      parameter = parameters.lookup(op->getOperand(0));
    for (Value result : op->getResults()) {
      if (!parameter.empty())
        parameters[result] = parameter;
      if (last)
        places[result] = *last;
      else if (!input.empty())
        inputs[result] = input;
    }
    return;
  }

  std::string path = isLabelled ? "loss" : getOpPath(op->getLoc());
  Place place = getRow(*stage, path, last ? last->block : 0);
  rows.try_emplace({*stage, getNodeName(op)}, place);
  std::string name = op->getName().stripDialect().str();
  if (!llvm::is_contained(at(place).ops, name))
    at(place).ops.push_back(name);
  for (Value result : op->getResults())
    places[result] = place;

  ModelGraph::Block &own = graph.stages[*stage].blocks[place.block];
  if (path.empty() && !functional.count({*stage, place.block}))
    functional[{*stage, place.block}] = getOwnName(getNodeName(op));
  if (!input.empty() && !llvm::is_contained(own.inputs, input))
    own.inputs.push_back(input);
  for (Value operand : op->getOperands()) {
    if (StringRef name = parameters.lookup(operand); !name.empty())
      readers.try_emplace(name, path);
    auto found = places.find(operand);
    if (found != places.end() && found->second.stage == stage &&
        found->second.block != place.block)
      own.operands.insert(found->second.block);
  }
}

/// Adds the communication of the backward pass and the update; the graph shows
/// no other op of them.
void GraphBuilder::addOther(Operation *op) {
  if (auto boundary = dyn_cast<BoundaryOp>(op)) {
    if (boundary.getFrom() > boundary.getTo())
      addMessage(boundary);
    return;
  }
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  if (!collective)
    return;
  std::optional<int64_t> stage;
  for (Value value : op->getOperands())
    if (!stage)
      stage = analysis.getStage(value);
  if (!stage)
    return;
  std::string name = collective.getSummary();
  if (isOfShards(op)) {
    ++graph.stages[*stage].shards[name];
    return;
  }
  auto found = rows.find({*stage, getNodeName(op)});
  if (isPerMicrobatch(op) && found != rows.end())
    ++at(found->second).backward[name];
  else
    ++graph.stages[*stage].once[name];
}

void GraphBuilder::addParameter(int64_t stage, StringRef name, Type type,
                                DictionaryAttr part,
                                const std::string &sharded) {
  std::string tensor =
      part ? part.getAs<StringAttr>("tensor").str() : name.str();
  std::string path = getParent(tensor);
  std::string layout = printLayout(getLayout(type));
  if (!sharded.empty())
    layout += (layout.empty() ? "" : ", ") + sharded;
  ModelGraph::Parameter parameter{
      tensor.substr(path.empty() ? 0 : path.size() + 1),
      printShape(cast<ShapedType>(type).getShape()), layout};
  Row *row = findRow(stage, path);
  if (auto reader = readers.find(name); !row && reader != readers.end()) {
    // The name gives no place: use the row of its reader.
    row = &at(getRow(stage, reader->second, 0));
    parameter.name = tensor;
  }
  // If a module's ops were folded, use the module that encloses it.
  for (; !row && !path.empty(); row = findRow(stage, path)) {
    path = getParent(path);
    parameter.name = tensor.substr(path.empty() ? 0 : path.size() + 1);
  }
  if (!row)
    row = &at(getRow(stage, path, 0));
  for (ModelGraph::Parameter &other : row->parameters) {
    parameter.count = other.count;
    if (part && other == parameter) {
      ++other.count;
      return;
    }
  }
  parameter.count = 1;
  row->parameters.push_back(std::move(parameter));
}

void GraphBuilder::addParameters() {
  for (BlockArgument argument : step.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto name = step.getArgAttrOfType<StringAttr>(number, attr::parameter);
    if (!name)
      continue;
    int64_t stage = analysis.getStage(argument).value_or(0);
    auto members = step.getArgAttrOfType<ArrayAttr>(number, attr::members);
    if (!members) {
      addParameter(stage, name, argument.getType(),
                   step.getArgAttrOfType<DictionaryAttr>(number, attr::part),
                   "");
      continue;
    }
    // One axis splits the dimension that holds the members.
    StringAttr axis = getLayout(argument.getType()).getAxesOfDim(1).front();
    for (auto member : members.getAsRange<DictionaryAttr>())
      addParameter(stage, member.getAs<StringAttr>("name").getValue(),
                   member.getAs<TypeAttr>("type").getValue(),
                   member.getAs<DictionaryAttr>("part"),
                   axis.str() + ": shard");
  }
}

/// Names the blocks of ops without a module. If the model has modules, each
/// such op is a block with its own name.
void GraphBuilder::nameFunctional() {
  bool hasModules = false;
  for (const ModelGraph::Stage &stage : graph.stages)
    for (const ModelGraph::Block &block : stage.blocks)
      hasModules |= !block.name.empty() && block.name != "loss";
  if (!hasModules)
    return;
  for (auto &[place, name] : functional) {
    ModelGraph::Block &block = graph.stages[place.first].blocks[place.second];
    block.name = block.last = name;
  }
}

ModelGraph GraphBuilder::build() {
  addStages();
  for (BlockArgument argument : step.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto name = step.getArgAttrOfType<StringAttr>(number, attr::input);
    auto kind = step.getArgAttrOfType<StringAttr>(number, attr::kind);
    if (kind && kind == "label")
      labelled.insert(argument);
    auto shape = cast<ShapedType>(argument.getType()).getShape();
    if (name && !shape.empty() && !(kind && kind == "microbatch"))
      inputs[argument] = name.str() + "  " + printShape(shape);
    if (auto parameter =
            step.getArgAttrOfType<StringAttr>(number, attr::parameter))
      parameters[argument] = parameter.getValue();
  }
  findForward();
  for (Operation &op : step.front())
    if (forward.contains(&op))
      addForward(&op);
  addParameters();
  for (Operation &op : step.front())
    if (!forward.contains(&op))
      addOther(&op);
  nameFunctional();
  for (ModelGraph::Stage &stage : graph.stages) {
    // Loss and norm are summed over stages. The sum becomes one collective for
    // all chunks of a stage.
    if (graph.stages.size() > 1 && stage.chunk.value_or(0) == 0)
      ++stage.once[(AllReduceOp::getOperationName().split('.').second + " pp")
                       .str()];
    foldBlocks(stage);
  }
  foldStages(graph.stages);
  return std::move(graph);
}

FailureOr<ModelGraph> ModelGraph::build(ModuleOp module) {
  FailureOr<func::FuncOp> step = findFunction(module, stepName);
  if (failed(step))
    return failure();
  FailureOr<StageAnalysis> analysis = StageAnalysis::compute(*step);
  if (failed(analysis))
    return failure();
  MeshAttr mesh;
  for (Type type : step->getArgumentTypes())
    if (LayoutAttr layout = getLayout(type))
      mesh = layout.getMesh();
  int64_t numStages = mesh ? mesh.getSize(stageAxis) : analysis->getNumStages();
  ModelGraph graph = GraphBuilder(*step, *analysis, numStages).build();
  graph.name = module.getSymName().value_or("model").str();
  if (!mesh)
    return graph;
  graph.ranksPerStage = mesh.getNumRanks() / numStages;
  for (const MeshAxis &axis : mesh.getAxes())
    if (axis.name != MeshAttr::timeAxis)
      graph.mesh += (graph.mesh.empty() ? "" : " x ") + axis.name.str() + " " +
                    std::to_string(axis.size);
  return graph;
}
