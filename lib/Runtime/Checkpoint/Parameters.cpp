//===- Parameters.cpp - initial values, saved weights and gradients -------===//

#include "Parameters.h"

#include "Collectives/Collectives.h"
#include "Core/Elements.h"
#include "Core/Error.h"
#include "Core/Outcome.h"
#include "Core/Random.h"
#include "Program/Shard.h"
#include "Safetensors.h"
#include "System/MappedFile.h"

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

std::string dtc::rt::pathOfWeights(const Program &program) {
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  return (self.parent_path() / program.weightsFile).string();
}

/// The weights at the end of an executable (ABI.h).
static std::string_view findEmbedded(std::string_view executable) {
  constexpr std::string_view mark = DTC_WEIGHTS_MARK;
  uint64_t size = 0;
  if (executable.size() >= sizeof size + mark.size() &&
      executable.ends_with(mark)) {
    executable.remove_suffix(sizeof size + mark.size());
    memcpy(&size, executable.data() + executable.size(), sizeof size);
  }
  if (size == 0 || size > executable.size())
    fail("found no weights at the end of this program: it was stripped or cut; "
         "compile it again, or with --weights external");
  return executable.substr(executable.size() - size);
}

namespace {

/// The program's weights, or those of another file. Opened at the first use.
class Weights {
public:
  explicit Weights(const Program &program, const std::string &given = {})
      : program(program), path(given) {
    if (path.empty() && !program.weightsFile.empty())
      path = pathOfWeights(program);
  }

  std::string_view bytes() {
    if (!file)
      file.emplace(isEmbedded() ? program.executable : path);
    return isEmbedded() ? findEmbedded(file->bytes()) : file->bytes();
  }

  const SafetensorsReader &reader() {
    if (!tensors)
      tensors.emplace(isEmbedded() ? "the embedded file" : "'" + path + "'",
                      bytes());
    return *tensors;
  }

private:
  bool isEmbedded() const { return path.empty(); }

  const Program &program;
  std::string path;
  std::optional<MappedFile> file;
  std::optional<SafetensorsReader> tensors;
};

} // namespace

void dtc::rt::expectSameWeights(const Program &program, const std::string &path,
                                const FileCoverage &coverage,
                                Collectives &collectives) {
  if (path.empty() && !program.readsWeights())
    return;
  Weights weights(program, path);
  const std::string &name = path.empty() ? program.weightsFile : path;
  std::vector<ComparedFile> files;
  Outcome opened = attempt([&] {
    files.push_back({name.empty() ? "the weights in the program"
                                  : "the weights '" + name + "'",
                     weights.bytes()});
  });
  if (collectives.firstFailed(opened.failed) < 0)
    expectSameFiles(files, coverage, collectives);
}

static void loadFromFile(const ParameterInfo &parameter, const Piece &piece,
                         const SafetensorsReader &file, char *target) {
  const SafetensorsReader::Tensor *tensor = file.find(parameter.tensor);
  for (const std::string &alias : parameter.aliases)
    if (!tensor)
      tensor = file.find(alias);
  if (!tensor)
    fail("%s has no tensor '%s'", file.name().c_str(),
         parameter.tensor.c_str());
  if (tensor->shape != parameter.tensorShape)
    fail("%s has shape %s for '%s', expected %s", file.name().c_str(),
         formatShape(tensor->shape).c_str(), parameter.tensor.c_str(),
         formatShape(parameter.tensorShape).c_str());
  if (!isConvertible(tensor->dtype, parameter.dtype))
    fail("%s has floats for '%s', expected %s", file.name().c_str(),
         parameter.tensor.c_str(), nameOf(parameter.dtype));
  forEachRun(
      tensor->shape, piece, [&](int64_t from, int64_t to, int64_t count) {
        convert(tensor->dtype, tensor->data + from * sizeOf(tensor->dtype),
                parameter.dtype, target + to * sizeOf(parameter.dtype), count);
      });
}

/// The target is zero.
static void fillByRule(const ParameterInfo &parameter, const Piece &piece,
                       uint32_t order, uint64_t seed, char *target) {
  using Init = ParameterInfo::Init;
  RandomStream stream(seed, RandomUse::parameter, order);
  if (parameter.init == Init::zeros)
    return;
  if (parameter.init == Init::ones) {
    uint8_t one = 1;
    forEachRun(parameter.tensorShape, piece,
               [&](int64_t, int64_t to, int64_t number) {
                 for (int64_t i = to; i < to + number; ++i)
                   convert(DTC_U8, &one, parameter.dtype,
                           target + i * sizeOf(parameter.dtype), 1);
               });
  } else if (!isFloat(parameter.dtype)) {
    fail("parameter '%s' of type %s has a random initial value, expected zeros "
         "or ones",
         parameter.name.c_str(), nameOf(parameter.dtype));
  } else {
    forEachRun(parameter.tensorShape, piece,
               [&](int64_t first, int64_t to, int64_t number) {
                 stream.fillNormal(parameter.dtype,
                                   target + to * sizeOf(parameter.dtype),
                                   number, parameter.initScale, first);
               });
  }
}

void dtc::rt::loadParameters(const dtc_context &context, Arena &arena,
                             uint64_t seed, const std::string &path) {
  const Program &program = context.program;
  Weights weights(program, path);
  int rank = context.collectives.rank();
  for (const Stage::Parameter &entry : context.plan().parameters) {
    const ParameterInfo &parameter = program.parameters[entry.index];
    auto load = [&](const Stage::Place &place) {
      Piece piece = pieceOf(parameter, place, program.mesh, rank);
      int64_t bytes = piece.count * sizeOf(parameter.dtype);
      arena.write(piece.offset, bytes, [&](char *target) {
        // Padding stays zero.
        memset(target, 0, bytes);
        if (parameter.init == ParameterInfo::Init::file || !path.empty())
          loadFromFile(parameter, piece, weights.reader(), target);
        else
          fillByRule(parameter, piece,
                     orderOf(program.parameters, parameter.tensor,
                             &ParameterInfo::tensor),
                     seed, target);
      });
    };
    load(entry.place);
    for (const char *name : {averageState, anchorState})
      if (const Stage::State *state = entry.findState(name))
        load(state->place);
  }
}

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

namespace {

struct SavedPiece {
  int rank;
  Piece piece;
};

/// A buffer, or a parameter that is gathered from the ranks that hold its
/// pieces.
struct SavedTensor {
  std::string name;
  const ParameterInfo *parameter = nullptr;
  std::vector<SavedPiece> pieces;
};

} // namespace

/// Finds a tensor of a kind in the arena; null if it is not kept.
static const Stage::Place *placeOf(const Stage::Parameter &entry,
                                   TensorKind kind) {
  const Stage::State *average = entry.findState(averageState);
  switch (kind) {
  case TensorKind::weights:
    return &entry.place;
  case TensorKind::averages:
    return average ? &average->place : &entry.place;
  case TensorKind::gradients:
    return entry.gradient ? &*entry.gradient : nullptr;
  }
  return nullptr;
}

/// The rank that sends a piece: of the ranks that hold it, the one at 0 on all
/// axes except for the pipeline's and those that split the parameter. Axes are
/// found by name, so that files do not depend on the plan.
static std::vector<SavedTensor> listTensors(const Program &program,
                                            TensorKind kind) {
  const Mesh &mesh = program.mesh;
  std::map<std::string, SavedTensor> tensors;
  for (int rank = 0; rank < mesh.size(); ++rank) {
    std::vector<int> where = mesh.coordinates(rank);
    int stages = mesh.find(stageAxis);
    const Stage &stage = program.stages[mesh.coordinate(rank, stageAxis)];
    for (const Stage::Parameter &entry : stage.parameters) {
      const ParameterInfo &parameter = program.parameters[entry.index];
      const Stage::Place *place = placeOf(entry, kind);
      bool isFirst = place;
      for (int axis = 0; axis < int(where.size()); ++axis) {
        bool matters = axis == stages;
        for (const AxisSplit &split : parameter.splits)
          matters |= split.axis == axis;
        if (place && place->shard)
          matters |= place->shard->isSplitBy(axis);
        isFirst &= matters || where[axis] == 0;
      }
      if (!isFirst)
        continue;
      SavedTensor &tensor = tensors[parameter.tensor];
      tensor.parameter = &parameter;
      tensor.pieces.push_back({rank, pieceOf(parameter, *place, mesh, rank)});
    }
  }
  if (kind != TensorKind::gradients) {
    std::map<std::string, SavedTensor> others;
    for (auto &[name, tensor] : tensors)
      for (const std::string &alias : tensor.parameter->aliases)
        others[alias] = tensor;
    for (const std::string &buffer : program.buffers)
      others[buffer];
    tensors.merge(others);
  }
  std::vector<SavedTensor> list;
  for (auto &[name, tensor] : tensors) {
    tensor.name = name;
    list.push_back(std::move(tensor));
  }
  return list;
}

static const SafetensorsReader::Tensor &findBuffer(Weights &weights,
                                                   const std::string &name) {
  const SafetensorsReader::Tensor *tensor = weights.reader().find(name);
  if (!tensor)
    fail("%s has no tensor '%s'", weights.reader().name().c_str(),
         name.c_str());
  return *tensor;
}

/// The entries of the file's header.
static std::vector<SafetensorsWriter::Tensor>
describeTensors(const std::vector<SavedTensor> &list, Weights &weights) {
  std::vector<SafetensorsWriter::Tensor> tensors;
  for (const SavedTensor &tensor : list) {
    if (tensor.parameter) {
      tensors.push_back({tensor.name, tensor.parameter->dtype,
                         tensor.parameter->tensorShape});
      continue;
    }
    const SafetensorsReader::Tensor &buffer = findBuffer(weights, tensor.name);
    tensors.push_back({tensor.name, buffer.dtype, buffer.shape});
  }
  return tensors;
}

ReservedSpace dtc::rt::reserveTensors(const Program &program, TensorKind kind,
                                      const std::string &path) {
  Weights weights(program);
  std::vector<SafetensorsWriter::Tensor> tensors =
      describeTensors(listTensors(program, kind), weights);
  // The writer checks the existing file.
  int64_t bytes = SafetensorsWriter(path, tensors).bytes();
  for (const SafetensorsWriter::Tensor &tensor : tensors)
    bytes += elementCount(tensor.shape) * sizeOf(tensor.dtype);
  return ReservedSpace(path, bytes);
}

void dtc::rt::saveTensors(const dtc_context &context, const Arena &arena,
                          TensorKind kind, const std::string &path,
                          double divisor) {
  const Program &program = context.program;
  Collectives &collectives = context.collectives;
  std::vector<SavedTensor> list = listTensors(program, kind);
  if (collectives.rank() != 0) {
    for (const SavedTensor &tensor : list)
      for (const auto &[rank, piece] : tensor.pieces)
        if (rank == collectives.rank()) {
          int64_t bytes = piece.count * sizeOf(tensor.parameter->dtype);
          arena.read(piece.offset, bytes, [&](const char *data) {
            collectives.sendData(0, data, bytes);
          });
        }
    return collectives.barrier(); // nobody waits in a step while rank 0 writes
  }
  Weights weights(program);
  SafetensorsWriter writer(path, describeTensors(list, weights));
  std::vector<char> received, whole;
  for (const SavedTensor &tensor : list) {
    if (!tensor.parameter) {
      const SafetensorsReader::Tensor &buffer =
          findBuffer(weights, tensor.name);
      writer.append(buffer.data,
                    elementCount(buffer.shape) * sizeOf(buffer.dtype));
      continue;
    }
    const std::vector<int64_t> &shape = tensor.parameter->tensorShape;
    int64_t size = sizeOf(tensor.parameter->dtype);
    whole.assign(elementCount(shape) * size,
                 0); // frozen parts have no gradient
    for (const auto &[rank, piece] : tensor.pieces) {
      auto place = [&, &piece = piece](const char *data) {
        forEachRun(shape, piece, [&](int64_t to, int64_t from, int64_t count) {
          memcpy(whole.data() + to * size, data + from * size, count * size);
        });
      };
      if (rank == 0) {
        arena.read(piece.offset, piece.count * size, place);
      } else {
        received.resize(piece.count * size);
        collectives.recvData(rank, received.data(), received.size());
        place(received.data());
      }
    }
    if (divisor != 1) // a power of two, of gradients in f32
      for (auto *x = reinterpret_cast<float *>(whole.data()),
                *end = x + elementCount(shape);
           x != end; ++x)
        *x = float(*x / divisor);
    writer.append(whole.data(), whole.size());
  }
  writer.commit();
  collectives.barrier();
}
