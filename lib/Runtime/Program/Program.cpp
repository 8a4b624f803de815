//===- Program.cpp - the compiled program ---------------------------------===//

#include "Program.h"

#include "Core/Elements.h"
#include "Core/Error.h"

#include <algorithm>

using namespace dtc::rt;

int64_t ParameterInfo::bytes(const Mesh &mesh) const {
  int64_t count = elementCount(shape);
  for (const AxisSplit &split : splits)
    count /= mesh.axes[split.axis].size;
  return count * rt::sizeOf(dtype);
}

bool Stage::Place::Shard::isSplitBy(int axis) const {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

int64_t Stage::Place::Shard::countParts(const Mesh &mesh) const {
  int64_t parts = 1;
  for (int axis : axes)
    parts *= mesh.axes[axis].size;
  return parts;
}

int64_t Stage::Place::Shard::partOf(const Mesh &mesh, int rank) const {
  std::vector<int> where = mesh.coordinates(rank);
  int64_t part = 0;
  for (int axis : axes)
    part = part * mesh.axes[axis].size + where[axis];
  return part;
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

int Program::batchRanks() const {
  int ranks = mesh.sizeOf(batchAxes);
  return server ? ranks / (countWorkers() + 1) * countWorkers() : ranks;
}

int Program::batchRank(int rank) const {
  int place = mesh.place(batchAxes, rank);
  if (!server)
    return place;
  int ofWorker = batchRanks() / countWorkers();
  return place < ofWorker ? place : place - ofWorker;
}

size_t Program::findBetween(std::string_view name) const {
  auto found = std::ranges::find(between, name, &ProgramBetweenSteps::name);
  if (found == between.end())
    fail("found no program '%.*s' between steps", int(name.size()),
         name.data());
  return size_t(found - between.begin());
}

void Program::setReplicas(int replicas) {
  int former = std::exchange(mesh.axes[replicaAxis].size, replicas);
  globalBatch = multiplySizes(globalBatch / former, replicas);
  modelFlops = multiplySizes(modelFlops / former, replicas);
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
