//===- Parameters.cpp - initial values, saved weights and gradients -------===//

#include "Parameters.h"

#include "Elements.h"
#include "Error.h"
#include "MappedFile.h"
#include "Random.h"
#include "Safetensors.h"
#include "Shard.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

using namespace dtc::rt;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

namespace {

/// The program's weights, wherever they are; opened when first needed.
class Weights {
public:
  explicit Weights(const Program &program) : program(program) {}

  std::string_view bytes() {
    if (!program.embeddedWeights.empty())
      return program.embeddedWeights;
    if (program.weightsFile.empty())
      fail("this program has no weights, but its manifest refers to them");
    if (!file)
      file.emplace(path());
    return file->bytes();
  }

  const SafetensorsReader &reader() {
    if (!tensors)
      tensors.emplace(program.weightsFile.empty() ? "the embedded file"
                                                  : "'" + path() + "'",
                      bytes());
    return *tensors;
  }

private:
  std::string path() const {
    std::filesystem::path self =
        std::filesystem::read_symlink("/proc/self/exe");
    return (self.parent_path() / program.weightsFile).string();
  }

  const Program &program;
  std::optional<MappedFile> file;
  std::optional<SafetensorsReader> tensors;
};

} // namespace

static void loadFromFile(const ParameterInfo &parameter, const Box &box,
                         const SafetensorsReader &file, char *target) {
  const SafetensorsReader::Tensor *tensor = file.find(parameter.tensor);
  if (!tensor)
    fail("%s has no tensor '%s'", file.name().c_str(),
         parameter.tensor.c_str());
  if (tensor->shape != parameter.tensorShape)
    fail("%s has shape %s for '%s', expected %s", file.name().c_str(),
         formatShape(tensor->shape).c_str(), parameter.tensor.c_str(),
         formatShape(parameter.tensorShape).c_str());
  if (!isConvertible(tensor->storage, parameter.dtype))
    fail("%s has floats for '%s', expected %s", file.name().c_str(),
         parameter.tensor.c_str(), nameOf(parameter.dtype));
  forEachRun(tensor->shape, box, [&](int64_t from, int64_t to, int64_t count) {
    convert(tensor->storage, tensor->data + from * sizeOf(tensor->storage),
            parameter.dtype, target + to * sizeOf(parameter.dtype), count);
  });
}

static void fillByRule(const ParameterInfo &parameter, const Box &box,
                       uint32_t order, uint64_t seed, char *target) {
  using Init = ParameterInfo::Init;
  int64_t count = elementCount(box.size);
  RandomStream stream(seed, RandomUse::parameter, order);
  if (parameter.init == Init::zeros) {
    memset(target, 0, count * sizeOf(parameter.dtype));
  } else if (parameter.init == Init::ones) {
    uint8_t one = 1;
    for (int64_t i = 0; i < count; ++i)
      convert(Storage::U8, &one, parameter.dtype,
              target + i * sizeOf(parameter.dtype), 1);
  } else if (!isFloat(parameter.dtype)) {
    fail("parameter '%s' of type %s has a random initial value, expected zeros "
         "or ones",
         parameter.name.c_str(), nameOf(parameter.dtype));
  } else {
    forEachRun(parameter.tensorShape, box,
               [&](int64_t first, int64_t to, int64_t number) {
                 stream.fillNormal(parameter.dtype,
                                   target + to * sizeOf(parameter.dtype),
                                   number, parameter.initScale, first);
               });
  }
}

void dtc::rt::loadParameters(const dtc_context &context, char *arena,
                             uint64_t seed) {
  const Program &program = context.program;
  Weights weights(program);
  for (const Stage::Parameter &entry : context.plan().parameters) {
    const ParameterInfo &parameter = program.parameters[entry.index];
    Box box = boxOf(parameter, program.mesh, context.collectives.rank());
    if (parameter.init == ParameterInfo::Init::file)
      loadFromFile(parameter, box, weights.reader(), arena + entry.offset);
    else
      fillByRule(
          parameter, box,
          orderOf(program.parameters, parameter.tensor, &ParameterInfo::tensor),
          seed, arena + entry.offset);
    if (const Stage::State *average = entry.findState(averageState))
      memcpy(arena + average->offset, arena + entry.offset,
             parameter.bytes(program.mesh));
  }
}

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

namespace {

/// A box of a tensor: where its rank keeps it.
struct SavedBox {
  int rank;
  int64_t offset, bytes;
  Box box;
};

struct SavedTensor {
  const ParameterInfo *parameter;
  std::vector<SavedBox> boxes;
};

} // namespace

/// Where a tensor of a kind is in the arena; -1 if there is none.
static int64_t offsetOf(const Stage::Parameter &entry, TensorKind kind) {
  const Stage::State *average = entry.findState(averageState);
  switch (kind) {
  case TensorKind::weights:
    return entry.offset;
  case TensorKind::averages:
    return average ? average->offset : entry.offset;
  case TensorKind::gradients:
    return entry.gradient;
  }
  return -1;
}

/// Of ranks that hold the same, the first sends: that at 0 on all axes but the
/// pipeline's and those that split the parameter. In the order of parameters;
/// parts stand with the first of their tensor.
static std::vector<SavedTensor> listTensors(const Program &program,
                                            TensorKind kind) {
  const Mesh &mesh = program.mesh;
  std::map<std::string, size_t> numbers;
  std::vector<SavedTensor> list;
  for (const ParameterInfo &parameter : program.parameters)
    if (numbers.insert({parameter.tensor, list.size()}).second)
      list.push_back({&parameter, {}});
  for (int rank = 0; rank < mesh.size(); ++rank) {
    std::vector<int> where = mesh.coordinates(rank);
    int stages = mesh.find(stageAxis);
    const Stage &stage = program.stages[mesh.coordinate(rank, stageAxis)];
    for (const Stage::Parameter &entry : stage.parameters) {
      const ParameterInfo &parameter = program.parameters[entry.index];
      int64_t offset = offsetOf(entry, kind);
      bool isFirst = offset >= 0;
      for (int axis = 0; axis < int(where.size()); ++axis) {
        bool matters = axis == stages;
        for (const ParameterInfo::Split &split : parameter.splits)
          matters |= split.axis == axis;
        isFirst &= matters || where[axis] == 0;
      }
      if (isFirst)
        list[numbers[parameter.tensor]].boxes.push_back(
            {rank, offset, parameter.bytes(mesh),
             boxOf(parameter, mesh, rank)});
    }
  }
  list.erase(std::remove_if(list.begin(), list.end(),
                            [](const SavedTensor &tensor) {
                              return tensor.boxes.empty();
                            }),
             list.end());
  return list;
}

void dtc::rt::saveTensors(const dtc_context &context, const char *arena,
                          TensorKind kind, const std::string &path) {
  const Program &program = context.program;
  Collectives &collectives = context.collectives;
  std::vector<SavedTensor> list = listTensors(program, kind);
  if (collectives.rank() != 0) {
    for (const SavedTensor &tensor : list)
      for (const SavedBox &saved : tensor.boxes)
        if (saved.rank == collectives.rank())
          collectives.sendData(0, arena + saved.offset, saved.bytes);
    return;
  }
  std::vector<SafetensorsWriter::Tensor> tensors;
  for (const SavedTensor &tensor : list)
    tensors.push_back({tensor.parameter->tensor, tensor.parameter->dtype,
                       tensor.parameter->tensorShape});
  SafetensorsWriter writer(path, tensors);
  std::vector<char> received, whole;
  for (const SavedTensor &tensor : list) {
    const std::vector<int64_t> &shape = tensor.parameter->tensorShape;
    int64_t size = sizeOf(tensor.parameter->dtype);
    whole.assign(elementCount(shape) * size,
                 0); // frozen parts have no gradient
    for (const SavedBox &saved : tensor.boxes) {
      const char *data = arena + saved.offset;
      if (saved.rank != 0) {
        received.resize(saved.bytes);
        collectives.recvData(saved.rank, received.data(), saved.bytes);
        data = received.data();
      }
      forEachRun(
          shape, saved.box, [&](int64_t to, int64_t from, int64_t count) {
            memcpy(whole.data() + to * size, data + from * size, count * size);
          });
    }
    writer.append(whole.data(), whole.size());
  }
  writer.commit();
}
