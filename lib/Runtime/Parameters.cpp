//===- Parameters.cpp - initial values, saved weights and gradients -------===//

#include "Parameters.h"

#include "Elements.h"
#include "Error.h"
#include "MappedFile.h"
#include "Random.h"
#include "Safetensors.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
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

static void loadFromFile(const ParameterInfo &parameter,
                         const SafetensorsReader &file, char *target) {
  const SafetensorsReader::Tensor *tensor = file.find(parameter.name);
  if (!tensor)
    fail("%s has no tensor '%s'", file.name().c_str(), parameter.name.c_str());
  if (tensor->shape != parameter.shape)
    fail("%s has shape %s for '%s', expected %s", file.name().c_str(),
         formatShape(tensor->shape).c_str(), parameter.name.c_str(),
         formatShape(parameter.shape).c_str());
  if (!isConvertible(tensor->storage, parameter.dtype))
    fail("%s has floats for '%s', expected %s", file.name().c_str(),
         parameter.name.c_str(), nameOf(parameter.dtype));
  convert(tensor->storage, tensor->data, parameter.dtype, target,
          elementCount(parameter.shape));
}

static void fillByRule(const ParameterInfo &parameter, uint32_t order,
                       uint64_t seed, char *target) {
  using Init = ParameterInfo::Init;
  int64_t count = elementCount(parameter.shape);
  RandomStream stream(seed, RandomUse::parameter, order);
  if (parameter.init == Init::zeros) {
    memset(target, 0, parameter.bytes());
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
    stream.fillNormal(parameter.dtype, target, count, parameter.initScale);
  }
}

void dtc::rt::loadParameters(const dtc_context &context, char *arena,
                             uint64_t seed) {
  const Program &program = context.program;
  Weights weights(program);
  for (const Stage::Parameter &entry : context.plan().parameters) {
    const ParameterInfo &parameter = program.parameters[entry.index];
    if (parameter.init == ParameterInfo::Init::file)
      loadFromFile(parameter, weights.reader(), arena + entry.offset);
    else
      fillByRule(parameter, orderOf(program.parameters, parameter), seed,
                 arena + entry.offset);
  }
}

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

namespace {

/// A tensor to save: where its stage keeps it, and the rank that sends it.
struct Saved {
  int parameter;
  int rank;
  int64_t offset;
};

} // namespace

/// The first replica of a tensor's stage sends it: all axes but pp at 0.
static std::vector<Saved> listTensors(const Program &program, TensorKind kind) {
  std::vector<Saved> list;
  std::vector<int> where(program.mesh.axes.size(), 0);
  for (size_t stage = 0; stage < program.stages.size(); ++stage) {
    if (int axis = program.mesh.find(stageAxis); axis >= 0)
      where[axis] = int(stage);
    for (const Stage::Parameter &entry : program.stages[stage].parameters) {
      int64_t offset =
          kind == TensorKind::weights ? entry.offset : entry.gradient;
      if (offset >= 0)
        list.push_back({entry.index, program.mesh.rank(where), offset});
    }
  }
  std::sort(list.begin(), list.end(), [](const Saved &a, const Saved &b) {
    return a.parameter < b.parameter;
  });
  return list;
}

void dtc::rt::saveTensors(const dtc_context &context, const char *arena,
                          TensorKind kind, const std::string &path) {
  const Program &program = context.program;
  Collectives &collectives = context.collectives;
  std::vector<Saved> list = listTensors(program, kind);
  if (collectives.rank() != 0) {
    for (const Saved &saved : list)
      if (saved.rank == collectives.rank())
        collectives.sendData(0, arena + saved.offset,
                             program.parameters[saved.parameter].bytes());
    return;
  }
  std::vector<SafetensorsWriter::Tensor> tensors;
  for (const Saved &saved : list) {
    const ParameterInfo &parameter = program.parameters[saved.parameter];
    tensors.push_back({parameter.name, parameter.dtype, parameter.shape});
  }
  SafetensorsWriter writer(path, tensors);
  std::vector<char> received;
  for (const Saved &saved : list) {
    int64_t bytes = program.parameters[saved.parameter].bytes();
    const char *data = arena + saved.offset;
    if (saved.rank != 0) {
      received.resize(bytes);
      collectives.recvData(saved.rank, received.data(), bytes);
      data = received.data();
    }
    writer.append(data, bytes);
  }
  writer.commit();
}
