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

static constexpr const char *parameterGroup = "parameter";

/// Calls `body` for each place of a stage, with the rank's data there, which
/// may be empty, and the axes along which ranks have different pieces.
template <typename Callback>
static void forEachPlace(const Program &program, int rank, Callback callback) {
  const Mesh &mesh = program.mesh;
  const Stage &stage = program.stages[mesh.coordinate(rank, stageAxis)];
  for (const Stage::Parameter &entry : stage.parameters) {
    const ParameterInfo &parameter = program.parameters[entry.index];
    auto visit = [&](std::string group, const ParameterInfo &tensor,
                     const Stage::Place &place, Stage::Rows rows,
                     bool isOptional, bool isTransient) {
      std::vector<int> axes;
      axes.reserve(tensor.splits.size() + 3);
      for (const AxisSplit &split : tensor.splits)
        axes.push_back(split.axis);
      if (place.shard)
        axes.insert(axes.end(), place.shard->axes.begin(),
                    place.shard->axes.end());
      if (int stages = mesh.find(stageAxis); stages >= 0)
        axes.push_back(stages);
      callback(KeptPiece{std::move(group), &tensor,
                         pieceOf(tensor, place, mesh, rank), rows, isOptional,
                         isTransient},
               axes);
    };
    visit(parameterGroup, entry.own ? *entry.own : parameter, entry.place,
          entry.own ? Stage::Rows::each : Stage::Rows::none,
          /*isOptional=*/false, /*isTransient=*/false);
    for (const Stage::State &state : entry.state)
      visit("state." + state.name, state.own ? *state.own : parameter,
            state.place, state.rows, state.isOptional, state.isTransient);
  }
}

/// The pieces that are transient, or those that are not.
static std::vector<KeptPiece> listPieces(const Program &program, int rank,
                                         bool transient) {
  std::vector<KeptPiece> list;
  forEachPlace(program, rank, [&](KeptPiece piece, const std::vector<int> &) {
    if (piece.piece.count > 0 && piece.isTransient == transient)
      list.push_back(std::move(piece));
  });
  return list;
}

std::vector<KeptPiece> dtc::rt::listHeldPieces(const Program &program,
                                               int rank) {
  return listPieces(program, rank, /*transient=*/false);
}

std::vector<KeptPiece> dtc::rt::listPushedPieces(const Program &program,
                                                 int rank) {
  return listPieces(program, rank, /*transient=*/true);
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
                 if (isOurs && piece.piece.count > 0 && !piece.isTransient)
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
    if (kept.rows != Stage::Rows::none)
      places[name]["rows"] = true;
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

/// The limit of ranks that have states of their own, far above any plan.
static constexpr int64_t maxRows = int64_t(1) << 20;

/// Whether a rank is at 0 on all axes but the pipeline's.
static bool isFirstOfStage(const Mesh &mesh, int rank) {
  std::vector<int> where = mesh.coordinates(rank);
  int stages = mesh.find(stageAxis);
  for (int axis = 0; axis < int(where.size()); ++axis)
    if (axis != stages && where[axis] != 0)
      return false;
  return true;
}

ShardSet::ShardSet(const Program &program,
                   const std::vector<std::string> &paths) {
  for (const ParameterInfo &parameter : program.parameters)
    tensors.insert(parameter.tensor);
  for (int rank = 0; rank < program.mesh.size(); ++rank)
    if (isFirstOfStage(program.mesh, rank))
      forEachPlace(
          program, rank, [&](const KeptPiece &piece, const std::vector<int> &) {
            kept.insert({{piece.group, piece.parameter->tensor}, piece});
          });
  for (const std::string &path : paths) {
    files.emplace_back(path);
    add(SafetensorsReader("'" + path + "'", files.back().bytes()));
  }
  for (auto &[key, entry] : entries)
    std::sort(entry.runs.begin(), entry.runs.end(),
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
      if (!tensors.count(name))
        fail("the program has no tensor '%s': the checkpoint is of another "
             "model",
             name.c_str());
      Key entryKey = {place.at("group"), name};
      auto found = kept.find(entryKey);
      if (found == kept.end())
        continue; // a state that this program does not have
      const ParameterInfo &parameter = *found->second.parameter;
      std::vector<int64_t> shape = readWholes(place.at("shape"));
      // Another number of positions may have had rows, or none may have them.
      std::vector<int64_t> expected = parameter.tensorShape;
      if (found->second.rows != Stage::Rows::none)
        expected.erase(expected.begin());
      int64_t rows = 0;
      bool haveRows = place.value("rows", false) ||
                      found->second.rows == Stage::Rows::terms;
      if (haveRows && !shape.empty()) {
        rows = std::clamp<int64_t>(shape[0], 1, maxRows);
        expected.insert(expected.begin(), rows);
      }
      if (shape != expected && found->second.isOptional)
        continue; // of another plan
      // The following work is proportional to the shape, so the shape must be
      // ours.
      if (shape != expected || tensor->dtype != parameter.dtype)
        fail("found %s of %s, expected %s of %s: the checkpoint is of another "
             "program",
             nameOf(tensor->dtype), formatShape(shape).c_str(),
             nameOf(parameter.dtype), formatShape(expected).c_str());
      Entry &entry = entries[entryKey];
      entry.rows = rows;
      Piece piece{readBox(place, shape.size()), readWhole(place.at("first")),
                  elementCount(tensor->shape), 0};
      if (piece.first < 0 ||
          piece.first > elementCount(piece.box.size) - piece.count)
        fail("more elements than its box has");
      int64_t size = sizeOf(tensor->dtype);
      forEachRun(shape, piece, [&](int64_t first, int64_t from, int64_t count) {
        entry.runs.push_back({first, count, tensor->data + from * size});
      });
    }
  } catch (const std::exception &error) {
    fail("cannot resume from shard %s, at %s: %s", shard.name().c_str(),
         at.c_str(), describeJsonError<Json>(error).c_str());
  }
}

/// Calls `body(data, to, count)` for the elements of a piece in these runs,
/// from element `offset` of the tensor on. Fails if some are missing.
template <typename Run, typename Callback>
static void readRuns(const KeptPiece &piece, const std::vector<Run> &runs,
                     int64_t offset, const Callback &body) {
  const ParameterInfo &parameter = *piece.parameter;
  int64_t size = sizeOf(parameter.dtype);
  forEachRun(parameter.tensorShape, piece.piece,
             [&](int64_t first, int64_t to, int64_t count) {
               first += offset;
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
                        (long long)first, piece.group.c_str(),
                        parameter.tensor.c_str());
                 int64_t skip = first - run->first;
                 int64_t step = std::min(count, run->count - skip);
                 body(run->data + skip * size, to, step);
                 first += step;
                 to += step;
                 count -= step;
               }
             });
}

/// Adds elements that are not aligned in memory.
template <typename T>
static void addElements(char *target, const char *data, int64_t count,
                        double factor) {
  for (int64_t i = 0; i < count; ++i) {
    T sum, term;
    memcpy(&sum, target + i * int64_t(sizeof(T)), sizeof(T));
    memcpy(&term, data + i * int64_t(sizeof(T)), sizeof(T));
    sum += T(double(term) * factor);
    memcpy(target + i * int64_t(sizeof(T)), &sum, sizeof(T));
  }
}

/// Adds the rows of a checkpoint, each times a factor.
void ShardSet::readRows(const KeptPiece &piece, const Entry &entry,
                        double factor, char *target) const {
  const ParameterInfo &parameter = *piece.parameter;
  int64_t size = sizeOf(parameter.dtype);
  bool isRow = piece.rows != Stage::Rows::none;
  int64_t elements = elementCount(parameter.tensorShape);
  if (isRow)
    elements /= parameter.tensorShape[0];
  int64_t own = isRow ? piece.piece.box.start[0] : 0;
  for (int64_t row = 0; row < entry.rows; ++row)
    readRuns(piece, entry.runs, (row - own) * elements,
             [&](const char *data, int64_t to, int64_t count) {
               if (parameter.dtype == DTC_F64)
                 addElements<double>(target + to * size, data, count, factor);
               else if (parameter.dtype == DTC_F32)
                 addElements<float>(target + to * size, data, count, factor);
               else if (row == 0) // whole numbers, which are counters
                 memcpy(target + to * size, data, size_t(count * size));
             });
}

void ShardSet::read(const KeptPiece &piece, char *target) const {
  const ParameterInfo &parameter = *piece.parameter;
  memset(target, 0, size_t(piece.bytes())); // padding stays zero
  auto found = entries.find({piece.group, parameter.tensor});
  // Workers that had no anchor were together at their parameters.
  if (found == entries.end() &&
      piece.group == std::string("state.") + anchorState)
    found = entries.find({parameterGroup, parameter.tensor});
  if (found == entries.end()) {
    if (piece.isOptional)
      return;
    fail("the checkpoint has no %s of '%s'; it is of another model or "
         "optimizer, or one that froze this parameter; to keep its weights, "
         "use --save-weights and dtc --init",
         piece.group.c_str(), parameter.tensor.c_str());
  }
  const Entry &entry = found->second;
  bool isRow = piece.rows != Stage::Rows::none;
  int64_t rows = isRow ? parameter.tensorShape[0] : 0;
  int64_t size = sizeOf(parameter.dtype);
  auto copy = [&](const char *data, int64_t to, int64_t count) {
    memcpy(target + to * size, data, size_t(count * size));
  };
  if (entry.rows == rows)
    return readRuns(piece, entry.runs, 0, copy);
  if (entry.rows > 0)
    return readRows(
        piece, entry,
        1.0 / double(piece.rows == Stage::Rows::terms ? rows : entry.rows),
        target);
  if (piece.rows == Stage::Rows::terms)
    return; // no checkpoint has the sum of terms
  int64_t elements = elementCount(parameter.tensorShape) / rows;
  int64_t offset = -piece.piece.box.start[0] * elements;
  readRuns(piece, entry.runs, offset, copy);
}
