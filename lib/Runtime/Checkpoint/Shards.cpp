//===- Shards.cpp - a rank's state in a checkpoint ------------------------===//

#include "Shards.h"

#include "Core/Error.h"
#include "Core/ForeignJson.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

using namespace dtc::rt;
using Json = nlohmann::ordered_json;

//===----------------------------------------------------------------------===//
// Pieces of ranks
//===----------------------------------------------------------------------===//

/// Calls `body` for each place of a stage, with the rank's data there, which
/// may be empty, and the axes along which ranks have different pieces.
template <typename Callback>
static void forEachPlace(const Program &program, int rank, Callback callback) {
  const Mesh &mesh = program.mesh;
  const Stage &stage = program.stages[mesh.coordinate(rank, stageAxis)];
  for (const Stage::Parameter &entry : stage.parameters) {
    const ParameterInfo &parameter = program.parameters[entry.index];
    auto visit = [&](std::string group, const Stage::Place &place) {
      std::vector<int> axes;
      axes.reserve(parameter.splits.size() + 2);
      for (const AxisSplit &split : parameter.splits)
        axes.push_back(split.axis);
      if (place.shard)
        axes.push_back(place.shard->axis);
      if (int stages = mesh.find(stageAxis); stages >= 0)
        axes.push_back(stages);
      callback(KeptPiece{std::move(group), &parameter,
                         pieceOf(parameter, place, mesh, rank)},
               axes);
    };
    visit("parameter", entry.place);
    for (const Stage::State &state : entry.state)
      visit("state." + state.name, state.place);
  }
}

std::vector<KeptPiece> dtc::rt::listHeldPieces(const Program &program,
                                               int rank) {
  std::vector<KeptPiece> list;
  forEachPlace(program, rank, [&](KeptPiece piece, const std::vector<int> &) {
    if (piece.piece.count > 0)
      list.push_back(std::move(piece));
  });
  return list;
}

std::vector<KeptPiece> dtc::rt::listWrittenPieces(const Program &program,
                                                  int rank) {
  std::vector<KeptPiece> list;
  std::vector<int> where = program.mesh.coordinates(rank);
  int64_t number = 0; // of the place, for which holders of a piece agree
  forEachPlace(program, rank,
               [&](KeptPiece piece, const std::vector<int> &axes) {
                 int64_t turn = number++;
                 bool isOurs = true;
                 for (int axis = 0; axis < int(where.size()); ++axis) {
                   if (std::find(axes.begin(), axes.end(), axis) != axes.end())
                     continue;
                   int size = program.mesh.axes[axis].size;
                   isOurs &= where[axis] == int(turn % size);
                   turn /= size;
                 }
                 if (isOurs && piece.piece.count > 0)
                   list.push_back(std::move(piece));
               });
  return list;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The metadata key of the places of all pieces.
static constexpr const char *placesKey = "dtc.pieces";

ShardSummary dtc::rt::writeShard(
    const std::string &path, const std::vector<KeptPiece> &pieces,
    const std::function<void(const KeptPiece &piece,
                             const std::function<void(const char *)> &use)>
        &read) {
  std::vector<SafetensorsWriter::Tensor> tensors;
  Json places = Json::object();
  for (const KeptPiece &kept : pieces) {
    const ParameterInfo &parameter = *kept.parameter;
    // Parts of one tensor, for example of a fused projection, have different
    // starts.
    std::string name = kept.group + "/" + parameter.tensor;
    if (places.contains(name))
      name += format("#%zu", tensors.size());
    tensors.push_back({name, parameter.dtype, {kept.piece.count}});
    places[name] = {{"group", kept.group},
                    {"tensor", parameter.tensor},
                    {"shape", parameter.tensorShape},
                    {"start", kept.piece.box.start},
                    {"size", kept.piece.box.size},
                    {"first", kept.piece.first}};
  }
  SafetensorsWriter writer(path, tensors, {{placesKey, places.dump()}});
  for (const KeptPiece &kept : pieces)
    read(kept, [&](const char *data) { writer.append(data, kept.bytes()); });
  writer.commit();
  return {writer.bytes(), writer.checksum()};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

ShardSet::ShardSet(const Program &program,
                   const std::vector<std::string> &paths) {
  for (const ParameterInfo &parameter : program.parameters)
    parameters[parameter.tensor] = &parameter;
  for (const std::string &path : paths) {
    files.emplace_back(path);
    add(SafetensorsReader("'" + path + "'", files.back().bytes()));
  }
  for (auto &[name, runs] : entries)
    std::sort(runs.begin(), runs.end(),
              [](const Run &a, const Run &b) { return a.first < b.first; });
}

/// Reads the numbers of a box, one for each dimension, from a file.
static Box readBox(const Json &place, size_t rank) {
  Box box{readWholes(place.at("start")), readWholes(place.at("size"))};
  if (box.start.size() != rank || box.size.size() != rank)
    fail("a box of another rank than its tensor");
  for (int64_t start : box.start)
    if (start < 0)
      fail("a box that starts at %lld", (long long)start);
  elementCount(box.size); // throws if that is no shape
  return box;
}

void ShardSet::add(const SafetensorsReader &shard) {
  std::string text = shard.metadata(placesKey), at = "its metadata";
  try {
    Json places = parseJson<Json>(text);
    for (auto &[key, place] : places.items()) {
      at = "'" + key + "'";
      const SafetensorsReader::Tensor *tensor = shard.find(key);
      if (!tensor)
        fail("no such tensor");
      std::string name = place.at("tensor");
      auto found = parameters.find(name);
      if (found == parameters.end())
        fail("the program has no tensor '%s': the checkpoint is of another "
             "model",
             name.c_str());
      const ParameterInfo &parameter = *found->second;
      std::vector<int64_t> shape = readWholes(place.at("shape"));
      // The following work is proportional to the shape, so the shape must be
      // ours.
      if (shape != parameter.tensorShape || tensor->dtype != parameter.dtype)
        fail("found %s of %s, expected %s of %s: the checkpoint is of another "
             "program",
             nameOf(tensor->dtype), formatShape(shape).c_str(),
             nameOf(parameter.dtype),
             formatShape(parameter.tensorShape).c_str());
      Piece piece{readBox(place, shape.size()), readWhole(place.at("first")),
                  elementCount(tensor->shape), 0};
      if (piece.first < 0 ||
          piece.first > elementCount(piece.box.size) - piece.count)
        fail("more elements than its box has");
      int64_t size = sizeOf(tensor->dtype);
      Runs &runs = entries[{place.at("group"), name}];
      forEachRun(shape, piece, [&](int64_t first, int64_t from, int64_t count) {
        runs.push_back({first, count, tensor->data + from * size});
      });
    }
  } catch (const std::exception &error) {
    fail("cannot resume from shard %s, at %s: %s", shard.name().c_str(),
         at.c_str(), describeJsonError<Json>(error).c_str());
  }
}

void ShardSet::read(const KeptPiece &piece, char *target) const {
  const ParameterInfo &parameter = *piece.parameter;
  const char *tensor = parameter.tensor.c_str(), *group = piece.group.c_str();
  auto found = entries.find({piece.group, parameter.tensor});
  if (found == entries.end())
    fail(
        "the checkpoint has no %s of '%s'; it is of another model or "
        "optimizer, or one that froze this parameter; to keep its weights, use "
        "--save-weights and dtc --init",
        group, tensor);
  const Runs &runs = found->second;
  int64_t size = sizeOf(parameter.dtype);
  memset(target, 0, size_t(piece.bytes())); // padding stays zero
  forEachRun(parameter.tensorShape, piece.piece,
             [&](int64_t first, int64_t to, int64_t count) {
               // The last run that starts at the first element or before it.
               auto run = std::upper_bound(
                   runs.begin(), runs.end(), first,
                   [](int64_t value, const Run &r) { return value < r.first; });
               if (run != runs.begin())
                 --run;
               while (count > 0) {
                 while (run != runs.end() && run->first + run->count <= first)
                   ++run;
                 if (run == runs.end() || run->first > first)
                   fail("the checkpoint lacks element %lld of the %s of '%s'",
                        (long long)first, group, tensor);
                 int64_t skip = first - run->first;
                 int64_t step = std::min(count, run->count - skip);
                 memcpy(target + to * size, run->data + skip * size,
                        size_t(step * size));
                 first += step;
                 to += step;
                 count -= step;
               }
             });
}
