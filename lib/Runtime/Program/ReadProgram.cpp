//===- ReadProgram.cpp - a program from its manifest ----------------------===//

#include "CheckProgram.h"
#include "Core/Checksum.h"
#include "Core/Elements.h"
#include "Core/Error.h"
#include "Core/ForeignJson.h"
#include "Program.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace dtc::rt;
using Json = nlohmann::ordered_json;

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

static Stage::Place readPlace(const Json &json, const Mesh &mesh) {
  Stage::Place place{readWhole(json.at("offset")), std::nullopt};
  if (json.contains("shard")) {
    const Json &shard = json["shard"];
    std::vector<int> axes;
    for (const Json &axis : shard.at("axes"))
      axes.push_back(findAxis(mesh, axis));
    place.shard = {std::move(axes), readWhole(shard.at("start")),
                   readWhole(shard.at("length"))};
  }
  return place;
}

/// A parameter with one more dimension, which an axis splits.
static ParameterInfo addDimension(ParameterInfo parameter, int axis,
                                  const Mesh &mesh) {
  int64_t size = mesh.axes[axis].size;
  for (AxisSplit &split : parameter.splits)
    ++split.dim;
  parameter.splits.insert(parameter.splits.begin(), {axis, 0});
  parameter.shape.insert(parameter.shape.begin(), size);
  parameter.tensorShape.insert(parameter.tensorShape.begin(), size);
  parameter.start.insert(parameter.start.begin(), 0);
  return parameter;
}

static Stage::State readState(const Json &json, const ParameterInfo &parameter,
                              const Mesh &mesh) {
  Stage::State state{json.at("name"), readPlace(json, mesh), std::nullopt};
  state.isOptional = json.value("optional", false);
  state.isTransient = json.value("transient", false);
  for (auto [key, rows] :
       {std::pair("terms", Stage::Rows::terms), {"each", Stage::Rows::each}})
    if (json.contains(key)) {
      state.rows = rows;
      state.own = addDimension(parameter, findAxis(mesh, json[key]), mesh);
    }
  if (json.contains("tensor")) {
    const Json &tensor = json["tensor"];
    state.own = parameter;
    state.own->shape = readWholes(tensor.at("shape"));
    state.own->splits = readSplits(tensor.at("splits"), mesh);
    state.own->tensorShape = state.own->shape;
    state.own->start.assign(state.own->shape.size(), 0);
  }
  return state;
}

static Stage readStage(const Json &json, const Program &program) {
  const Mesh &mesh = program.mesh;
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
                               std::nullopt,
                               {}};
    if (size_t(parameter.index) >= program.parameters.size())
      fail("a stage has parameter %d of %zu", parameter.index,
           program.parameters.size());
    const ParameterInfo &info = program.parameters[parameter.index];
    if (entry.contains("each"))
      parameter.own = addDimension(info, findAxis(mesh, entry["each"]), mesh);
    if (entry.contains("gradient"))
      parameter.gradient = readPlace(entry["gradient"], mesh);
    for (const Json &state : entry.at("state"))
      parameter.state.push_back(readState(state, info, mesh));
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
  if (json.contains("worker_axis"))
    program.workerAxis = findAxis(program.mesh, json["worker_axis"]);
  if (json.contains("server"))
    program.server = {readWhole(json["server"].at("ahead")),
                      json["server"].at("rate_by_staleness")};
  for (const Json &entry : json.value("programs", Json::array()))
    program.between.push_back({entry.at("name"),
                               entry.value("period", int64_t(0)),
                               entry.value("turn", int64_t(0))});
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
      program.optimizer +=
          " " + key + "=" +
          (value.is_string() ? value.get<std::string>() : value.dump());
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
        fail(
            "found a list of %zu members that is not a permutation: member %zu "
            "gives its input to none or several",
            sources.size(), i);
  }
  program.functions = json.at("phases").get<std::vector<std::string>>();
  for (const Json &input : json.at("inputs"))
    program.inputs.push_back(readInput(input));
  for (const Json &parameter : json.at("parameters"))
    program.parameters.push_back(readParameter(parameter, program.mesh));
  program.buffers = json.value("buffers", std::vector<std::string>());
  for (const Json &stage : json.at("stages"))
    program.stages.push_back(readStage(stage, program));
  for (const Json &sum : json.at("eval_sums"))
    program.evalSums.push_back({sum.at("name"), readWhole(sum.at("size"))});
  program.isLanguageModel = json.value("language_model", false);
  program.mixesSamples = json.value("mixes_samples", false);
  if (json.contains("record"))
    program.record = readRecord(json["record"], program.mesh);
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
  program.programs = exported.programs;
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
