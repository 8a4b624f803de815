//===- Program.cpp - the compiled plan, read from its manifest ------------===//

#include "Program.h"

#include "Checksum.h"
#include "Elements.h"
#include "Error.h"
#include "ForeignJson.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

using namespace dtc::rt;
using Json = nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

int Mesh::size() const {
  int size = 1;
  for (const Axis &axis : axes)
    size *= axis.size;
  return size;
}

int Mesh::find(std::string_view name) const {
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i].name == name)
      return int(i);
  return -1;
}

int Mesh::sizeOf(std::string_view name) const {
  int axis = find(name);
  return axis < 0 ? 1 : axes[axis].size;
}

int Mesh::sizeOf(const std::vector<int> &among) const {
  int size = 1;
  for (int axis : among)
    size *= axes[axis].size;
  return size;
}

std::vector<int> Mesh::coordinates(int rank) const {
  std::vector<int> result(axes.size());
  for (size_t i = axes.size(); i-- > 0; rank /= axes[i].size)
    result[i] = rank % axes[i].size;
  return result;
}

int Mesh::rank(const std::vector<int> &coordinates) const {
  int rank = 0;
  for (size_t i = 0; i < axes.size(); ++i)
    rank = rank * axes[i].size + coordinates[i];
  return rank;
}

int Mesh::coordinate(int rank, std::string_view name) const {
  int axis = find(name);
  return axis < 0 ? 0 : coordinates(rank)[axis];
}

std::vector<int> Mesh::members(const std::vector<int> &among, int own) const {
  std::vector<int> where = coordinates(own);
  std::vector<int> ranks;
  for (int place = 0; place < sizeOf(among); ++place) {
    int rest = place;
    for (auto axis = among.rbegin(); axis != among.rend(); ++axis) {
      where[*axis] = rest % axes[*axis].size;
      rest /= axes[*axis].size;
    }
    ranks.push_back(rank(where));
  }
  return ranks;
}

int Mesh::place(const std::vector<int> &among, int rank) const {
  std::vector<int> where = coordinates(rank);
  int place = 0;
  for (int axis : among)
    place = place * axes[axis].size + where[axis];
  return place;
}

std::string Mesh::describe() const {
  std::string text;
  for (size_t i = 0; i < axes.size(); ++i)
    text += format("%s%s %s", text.empty() ? "" : " x ", axes[i].name.c_str(),
                   int(i) == openAxis ? "auto"
                                      : std::to_string(axes[i].size).c_str());
  return text.empty() ? "one rank" : text;
}

std::string Mesh::describeRank(int rank) const {
  std::string text;
  std::vector<int> where = coordinates(rank);
  for (size_t i = 0; i < axes.size(); ++i)
    text += format("%s%s %d", text.empty() ? "" : ", ", axes[i].name.c_str(),
                   where[i]);
  return format("rank %d", rank) + (text.empty() ? "" : " (" + text + ")");
}

int64_t ParameterInfo::bytes(const Mesh &mesh) const {
  int64_t count = elementCount(shape);
  for (const AxisSplit &split : splits)
    count /= mesh.axes[split.axis].size;
  return count * rt::sizeOf(dtype);
}

//===----------------------------------------------------------------------===//
// Manifest
//===----------------------------------------------------------------------===//

template <typename T>
static T choose(const std::string &text,
                std::initializer_list<std::pair<const char *, T>> choices) {
  std::string expected;
  for (auto &[name, value] : choices) {
    if (text == name)
      return value;
    expected += format("%s%s", expected.empty() ? "" : ", ", name);
  }
  fail("found '%s', expected one of %s", text.c_str(), expected.c_str());
}

static int findAxis(const Mesh &mesh, const std::string &name) {
  int axis = mesh.find(name);
  if (axis < 0)
    fail("axis '%s' is not in the mesh", name.c_str());
  return axis;
}

static InputInfo readInput(const Json &json) {
  InputInfo input;
  input.name = json.at("name");
  input.dtype = parseDType(json.at("dtype"));
  input.shape = readWholes(json.at("shape"));
  input.kind =
      choose<InputKind>(json.at("kind"), {{"input", InputKind::input},
                                          {"label", InputKind::label},
                                          {"lr", InputKind::learningRate},
                                          {"step", InputKind::step},
                                          {"seed", InputKind::seed},
                                          {"microbatch", InputKind::microbatch},
                                          {"loss_scale", InputKind::lossScale},
                                          {"updates", InputKind::updates},
                                          {"replicas", InputKind::replicas},
                                          {"replica", InputKind::replica}});
  if (json.contains("bound"))
    input.bounds = readWholes(json["bound"]);
  if (input.bounds.size() > 1 &&
      int64_t(input.bounds.size()) != elementCount(input.sampleShape()))
    fail("input '%s' has %zu bounds, expected one, or one for each element of "
         "a sample",
         input.name.c_str(), input.bounds.size());
  if (json.contains("ignore_index"))
    input.ignoreIndex = readWhole(json["ignore_index"]);
  return input;
}

static std::vector<AxisSplit> readSplits(const Json &json, const Mesh &mesh) {
  std::vector<AxisSplit> splits;
  for (const Json &split : json)
    splits.push_back(
        {findAxis(mesh, split.at("axis")), readWhole<int>(split.at("dim"))});
  return splits;
}

static ParameterInfo readParameter(const Json &json, const Mesh &mesh) {
  using Init = ParameterInfo::Init;
  ParameterInfo parameter;
  parameter.name = json.at("name");
  parameter.dtype = parseDType(json.at("dtype"));
  parameter.shape = readWholes(json.at("shape"));
  parameter.splits = readSplits(json.at("splits"), mesh);
  const Json &tensor = json.at("tensor");
  parameter.tensor = tensor.at("name");
  parameter.tensorShape = readWholes(tensor.at("shape"));
  parameter.start = readWholes(tensor.at("start"));
  parameter.trainable = json.at("trainable");
  parameter.init = choose<Init>(json.at("init"), {{"file", Init::file},
                                                  {"zeros", Init::zeros},
                                                  {"ones", Init::ones},
                                                  {"normal", Init::normal}});
  parameter.aliases = json.value("aliases", std::vector<std::string>());
  if (parameter.init == Init::normal)
    parameter.initScale = json.at("init_scale");
  return parameter;
}

const Stage::State *Stage::Parameter::findState(std::string_view name) const {
  for (const State &entry : state)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

int64_t Program::countEvalSums() const {
  int64_t count = 0;
  for (const EvalSum &sum : evalSums)
    count += sum.size;
  return count;
}

int64_t Program::sizeOfEvalSum(std::string_view name) const {
  for (const EvalSum &sum : evalSums)
    if (sum.name == name)
      return sum.size;
  return 0;
}

int64_t Program::tokensPerSample() const {
  int64_t tokens = 0;
  for (const InputInfo &input : inputs) {
    if (input.shape.size() != 2 || isFloat(input.dtype))
      continue;
    if (input.kind == InputKind::label)
      return input.shape[1];
    if (input.kind == InputKind::input && !input.bounds.empty() && !tokens)
      tokens = input.shape[1];
  }
  return tokens;
}

bool Program::hasAverages() const {
  for (const Stage &stage : stages)
    for (const Stage::Parameter &parameter : stage.parameters)
      if (parameter.findState(averageState))
        return true;
  return false;
}

bool Program::readsWeights() const {
  return !buffers.empty() ||
         std::any_of(parameters.begin(), parameters.end(), [](auto &parameter) {
           return parameter.init == ParameterInfo::Init::file;
         });
}

int Program::batchRanks() const { return mesh.sizeOf(batchAxes); }

int Program::batchRank(int rank) const { return mesh.place(batchAxes, rank); }

static Stage::Place readPlace(const Json &json, const Mesh &mesh) {
  Stage::Place place{readWhole(json.at("offset")), std::nullopt};
  if (json.contains("shard")) {
    const Json &shard = json["shard"];
    place.shard = {findAxis(mesh, shard.at("axis")),
                   readWhole(shard.at("start")), readWhole(shard.at("length"))};
  }
  return place;
}

static Stage readStage(const Json &json, const Mesh &mesh) {
  Stage stage;
  stage.arenaBytes = readWhole(json.at("arena_bytes"));
  if (json.contains("host_bytes"))
    stage.hostBytes = readWhole(json["host_bytes"]);
  for (const Json &input : json.at("inputs"))
    stage.inputs.push_back(
        {readWhole<int>(input.at("index")), readWhole(input.at("offset"))});
  for (const Json &entry : json.at("parameters")) {
    Stage::Parameter parameter{readWhole<int>(entry.at("index")),
                               readPlace(entry, mesh),
                               std::nullopt,
                               {}};
    if (entry.contains("gradient"))
      parameter.gradient = readPlace(entry["gradient"], mesh);
    for (const Json &state : entry.at("state"))
      parameter.state.push_back({state.at("name"), readPlace(state, mesh)});
    stage.parameters.push_back(std::move(parameter));
  }
  stage.loss = readWhole(json.at("loss"));
  stage.gradientNorm = readWhole(json.at("grad_norm"));
  stage.eval = readWhole(json.at("eval"));
  return stage;
}

static RecordInfo readRecord(const Json &json, const Mesh &mesh) {
  RecordInfo record;
  record.dtype = parseDType(json.at("dtype"));
  record.shape = readWholes(json.at("shape"));
  record.unpadded = readWholes(json.at("unpadded"));
  record.splits = readSplits(json.at("splits"), mesh);
  record.stage = readWhole<int>(json.at("stage"));
  return record;
}

static void readManifest(const Json &json, Program &program) {
  program.model = json.at("model");
  program.dtype = json.at("dtype");
  program.loss = choose<LossKind>(json.at("loss"),
                                  {{"cross-entropy", LossKind::crossEntropy},
                                   {"bce", LossKind::bce},
                                   {"mse", LossKind::mse},
                                   {"output", LossKind::output}});
  for (const Json &axis : json.at("mesh"))
    program.mesh.axes.push_back(
        {axis.at("name"), readWhole<int>(axis.at("size"))});
  for (const Json &axis : json.at("batch_axes"))
    program.batchAxes.push_back(findAxis(program.mesh, axis));
  program.microbatches = readWhole(json.at("microbatches"));
  program.globalBatch = readWhole(json.at("global_batch"));
  if (json.contains("replica_axis"))
    program.replicaAxis = findAxis(program.mesh, json["replica_axis"]);
  if (json.contains("model_flops"))
    program.modelFlops = readWhole(json["model_flops"]);
  program.peakFlops = json.value("peak_flops", 0.0);
  program.skipsNonFinite = json.value("skips_nonfinite", false);
  for (const Json &op : json.value("ops", Json::array()))
    program.ops.push_back({op.at("name"), op.value("node", ""),
                           readWhole(op.at("flops")),
                           readWhole(op.at("bytes"))});
  program.weightsFile = json.at("weights_file");
  const Json &optimizer = json.at("optimizer");
  program.optimizer = optimizer.at("name");
  program.learningRate = optimizer.at("lr");
  for (auto &[key, value] : optimizer.items())
    if (key != "name" && key != "lr")
      program.optimizer += " " + key + "=" + value.dump();
  for (const Json &group : json.at("groups")) {
    std::vector<int> axes;
    for (const Json &name : group) {
      int axis = program.mesh.find(name.get<std::string>());
      if (axis < 0)
        fail("group axis '%s' is not in the mesh",
             name.get<std::string>().c_str());
      axes.push_back(axis);
    }
    program.groups.push_back(std::move(axes));
  }
  for (const Json &sources : json.value("permutations", Json::array()))
    program.permutations.push_back(readWholes<int>(sources));
  for (std::vector<int> sources : program.permutations) {
    std::sort(sources.begin(), sources.end());
    for (size_t i = 0; i < sources.size(); ++i)
      if (sources[i] != int(i))
        fail("a permutation of %zu members is none: member %zu gives its input "
             "to none or several",
             sources.size(), i);
  }
  program.phases = json.at("phases").get<std::vector<std::string>>();
  for (const Json &input : json.at("inputs"))
    program.inputs.push_back(readInput(input));
  for (const Json &parameter : json.at("parameters"))
    program.parameters.push_back(readParameter(parameter, program.mesh));
  program.buffers = json.value("buffers", std::vector<std::string>());
  for (const Json &stage : json.at("stages"))
    program.stages.push_back(readStage(stage, program.mesh));
  for (const Json &sum : json.at("eval_sums"))
    program.evalSums.push_back({sum.at("name"), readWhole(sum.at("size"))});
  program.isLanguageModel = json.value("language_model", false);
  program.mixesSamples = json.value("mixes_samples", false);
  if (json.contains("record"))
    program.record = readRecord(json["record"], program.mesh);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// A buffer must lie in the arena, or, if it may, in the host's memory, aligned
/// to its elements.
static void checkBuffer(const Stage &stage, const char *what,
                        const std::string &name, int64_t offset, int64_t bytes,
                        int64_t alignment, bool mayBeOnHost = false) {
  bool isOnHost = mayBeOnHost && offset >= DTC_HOST_MEMORY;
  int64_t size = isOnHost ? stage.hostBytes : stage.arenaBytes;
  if (isOnHost)
    offset -= DTC_HOST_MEMORY;
  if (offset < 0 || offset % alignment || bytes < 0 || offset > size ||
      bytes > size - offset)
    fail("%s '%s' at offset %lld with %lld bytes is misaligned or outside the "
         "%s of %lld bytes",
         what, name.c_str(), (long long)offset, (long long)bytes,
         isOnHost ? "host's memory" : "arena", (long long)size);
}

/// A product of sizes.
static int64_t multiply(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product))
    fail("%lld x %lld does not fit into 64 bits", (long long)a, (long long)b);
  return product;
}

void Program::setReplicas(int replicas) {
  int former = std::exchange(mesh.axes[replicaAxis].size, replicas);
  globalBatch = multiply(globalBatch / former, replicas);
  modelFlops = multiply(modelFlops / former, replicas);
  for (InputInfo &input : inputs)
    if (input.isData())
      input.shape[0] = globalBatch;
}

void Program::setRanks(int ranks) {
  if (mesh.openAxis < 0 || ranks < 1 || ranks % mesh.size())
    return;
  mesh.openAxis = -1;
  setReplicas(ranks / mesh.size());
}

static void checkStage(const Program &program, const Stage &stage) {
  for (const Stage::Input &entry : stage.inputs) {
    const InputInfo &input = program.inputs.at(entry.index);
    int64_t rows = program.globalBatch / program.batchRanks();
    int64_t elements =
        input.isData() ? multiply(rows, elementCount(input.sampleShape()))
        : input.kind == InputKind::replica ? 1
                                           : elementCount(input.shape);
    checkBuffer(stage, "input", input.name, entry.offset,
                multiply(elements, sizeOf(input.dtype)), sizeOf(input.dtype));
  }
  for (const Stage::Parameter &entry : stage.parameters) {
    const ParameterInfo &parameter = program.parameters.at(entry.index);
    auto check = [&](const char *what, const Stage::Place &place,
                     bool mayBeOnHost = true) {
      int64_t bytes = parameter.bytes(program.mesh);
      if (place.shard)
        bytes = place.shard->length /
                program.mesh.axes[place.shard->axis].size *
                sizeOf(parameter.dtype);
      checkBuffer(stage, what, parameter.name, place.offset, bytes,
                  sizeOf(parameter.dtype), mayBeOnHost);
    };
    check("parameter", entry.place);
    if (entry.gradient)
      check("gradient", *entry.gradient, /*mayBeOnHost=*/false);
    for (const Stage::State &state : entry.state)
      check(state.name.c_str(), state.place);
  }
  checkBuffer(stage, "scalar", "loss", stage.loss, 8, 8);
  checkBuffer(stage, "scalar", "grad_norm", stage.gradientNorm, 8, 8);
  checkBuffer(stage, "scalars", "eval", stage.eval,
              multiply(program.countEvalSums(), 8), 8);
}

/// The element type of an input that is no data.
static dtc_dtype dtypeOf(InputKind kind) {
  bool isWhole = kind == InputKind::seed || kind == InputKind::microbatch ||
                 kind == InputKind::replica;
  return isWhole ? DTC_I64 : DTC_F64;
}

static void checkMesh(const Mesh &mesh) {
  int64_t ranks = 1;
  for (const Mesh::Axis &axis : mesh.axes) {
    if (axis.size < 1)
      fail("mesh axis '%s' has size %d", axis.name.c_str(), axis.size);
    ranks *= axis.size;
    if (ranks > std::numeric_limits<int>::max())
      fail("the mesh has more ranks than there can be: %s",
           mesh.describe().c_str());
  }
}

/// A dimension that is split is there.
static void checkSplits(const std::string &name,
                        const std::vector<int64_t> &shape,
                        const std::vector<AxisSplit> &splits) {
  for (const AxisSplit &split : splits)
    if (split.dim < 0 || split.dim >= int(shape.size()))
      fail("%s of shape %s is split along dimension %d", name.c_str(),
           formatShape(shape).c_str(), split.dim);
}

static void checkRecord(const RecordInfo &record, int stages) {
  checkSplits("the model's output", record.shape, record.splits);
  if (record.stage < 0 || record.stage >= stages)
    fail("the model's output is on stage %d of %d", record.stage, stages);
  if (record.unpadded.size() != record.shape.size())
    fail("the model's output has shape %s, and %s without padding",
         formatShape(record.shape).c_str(),
         formatShape(record.unpadded).c_str());
}

/// Every loss has a sum and a number.
static void checkEvalSums(const Program &program) {
  for (const char *name : {"loss", "count"})
    if (program.sizeOfEvalSum(name) != 1)
      fail("an evaluation has no sum '%s' of size 1", name);
  for (const EvalSum &sum : program.evalSums)
    if (sum.size < 1)
      fail("sum '%s' of an evaluation has size %lld", sum.name.c_str(),
           (long long)sum.size);
}

static void checkProgram(const Program &program, uint32_t numStages) {
  checkMesh(program.mesh);
  int stages = program.mesh.sizeOf(stageAxis);
  if (int(numStages) != stages || int(program.stages.size()) != stages)
    fail("found %zu stages and %u step functions, expected %d (mesh axis pp)",
         program.stages.size(), numStages, stages);
  int64_t blocks = multiply(program.microbatches, program.batchRanks());
  if (blocks < 1 || program.globalBatch < 1 || program.globalBatch % blocks)
    fail("global batch %lld is no multiple of %lld blocks (micro-batches x dp)",
         (long long)program.globalBatch, (long long)blocks);
  for (const InputInfo &input : program.inputs) {
    if (input.isData() &&
        (input.shape.empty() || input.shape[0] != program.globalBatch))
      fail("input '%s' has shape %s, expected the global batch %lld as first "
           "dimension",
           input.name.c_str(), formatShape(input.shape).c_str(),
           (long long)program.globalBatch);
    if (!input.isData() && input.dtype != dtypeOf(input.kind))
      fail("input '%s' has type %s, expected %s", input.name.c_str(),
           nameOf(input.dtype), nameOf(dtypeOf(input.kind)));
  }
  for (const ParameterInfo &parameter : program.parameters)
    checkSplits("parameter '" + parameter.name + "'", parameter.shape,
                parameter.splits);
  checkEvalSums(program);
  if (program.record)
    checkRecord(*program.record, stages);
  for (const Stage &stage : program.stages)
    checkStage(program, stage);
}

Program dtc::rt::readProgram(const dtc_program &exported) {
  if (exported.abi_version != DTC_ABI_VERSION)
    fail("this program was compiled for runtime interface %u, the runtime has "
         "%u; compile it again with the dtc of this runtime",
         exported.abi_version, unsigned(DTC_ABI_VERSION));
  Program program;
  program.manifestHash =
      Checksum::of({exported.manifest, exported.manifest_size});
  program.steps = exported.steps;
  program.evals = exported.evals;
  try {
    readManifest(parseJson<Json>({exported.manifest, exported.manifest_size}),
                 program);
    checkProgram(program, exported.num_stages);
    if (program.replicaAxis >= 0)
      program.setReplicas(1);
    program.mesh.openAxis = program.replicaAxis;
  } catch (const std::exception &error) {
    fail("corrupt program manifest: %s",
         describeJsonError<Json>(error).c_str());
  }
  return program;
}

//===----------------------------------------------------------------------===//
// Description
//===----------------------------------------------------------------------===//

std::string Program::describeRanks() const {
  int ranks = mesh.size();
  return format("%s%d rank%s (%s)", mesh.openAxis < 0 ? "" : "a multiple of ",
                ranks, ranks == 1 ? "" : "s", mesh.describe().c_str());
}

std::string Program::describeBatch() const {
  return std::to_string(globalBatch) +
         (mesh.openAxis < 0 ? " samples" : " samples a replica");
}

std::string Program::describe() const {
  std::string text =
      format("model        %s (%s)\n", model.c_str(), dtype.c_str());
  text += "ranks        " + describeRanks() + "\n";
  text += format("batch        %s, %lld micro-batches of %lld rows on "
                 "each rank\n",
                 describeBatch().c_str(), (long long)microbatches,
                 (long long)blockRows());
  text += format("optimizer    %s lr=%g\ninputs\n", optimizer.c_str(),
                 learningRate);
  for (const InputInfo &input : inputs)
    if (input.isData())
      text += format("  %-40s %-5s %s%s\n", input.name.c_str(),
                     nameOf(input.dtype), formatShape(input.shape).c_str(),
                     input.kind == InputKind::label ? "  label" : "");
  int64_t total = 0, trained = 0;
  std::string lines;
  for (const ParameterInfo &parameter : parameters) {
    int64_t count = elementCount(parameter.shape);
    total += count;
    trained += parameter.trainable ? count : 0;
    lines +=
        format("  %-40s %-5s %s%s\n", parameter.name.c_str(),
               nameOf(parameter.dtype), formatShape(parameter.shape).c_str(),
               parameter.trainable ? "" : "  frozen");
  }
  text += format("parameters   %lld, %lld of them trained\n%s",
                 (long long)total, (long long)trained, lines.c_str());
  for (size_t i = 0; i < stages.size(); ++i)
    text += format("stage %zu      %s per rank%s, %zu parameters\n", i,
                   formatBytes(double(stages[i].arenaBytes)).c_str(),
                   stages[i].hostBytes
                       ? (" and " + formatBytes(double(stages[i].hostBytes)) +
                          " of the host's memory")
                             .c_str()
                       : "",
                   stages[i].parameters.size());
  return text;
}
