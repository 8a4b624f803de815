//===- CheckReplicas.cpp - equal bits where ranks hold the same -----------===//

#include "CheckReplicas.h"

#include "Collectives/Collectives.h"
#include "Core/Elements.h"
#include "Core/Error.h"
#include "Core/Fatal.h"
#include "Program/Shard.h"

#include <cstring>
#include <map>
#include <tuple>

using namespace dtc::rt;

/// Each step is a bijection of the hash so far, so values that differ in one
/// element have different hashes. All NaNs are equal, because it is not defined
/// which of two a sum returns.
template <typename Element>
static uint64_t hashAs(const char *data, int64_t count) {
  uint64_t hash = 0;
  for (int64_t i = 0; i < count; ++i) {
    Element element;
    memcpy(&element, data + i * int64_t(sizeof element), sizeof element);
    uint64_t bits = 0;
    // NOLINTNEXTLINE(misc-redundant-expression): but for NaN
    if (element == element)
      memcpy(&bits, &element, sizeof element);
    else
      bits = ~bits;
    hash = (hash ^ bits) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  return hash;
}

static uint64_t hash(dtc_dtype dtype, const char *data, int64_t count) {
  if (dtype == DTC_BOOL)
    return hashAs<uint8_t>(data, count);
  return visitElement(dtype, [&](auto element) {
    return hashAs<decltype(element)>(data, count);
  });
}

std::vector<ReplicaCheck::Value>
ReplicaCheck::listValues(const Program &program, int rank) {
  const Mesh &mesh = program.mesh;
  const Stage &stage = program.stages[mesh.coordinate(rank, stageAxis)];
  std::vector<Value> list;
  for (const Stage::Parameter &entry : stage.parameters) {
    const ParameterInfo &parameter = program.parameters[entry.index];
    std::string name = "'" + parameter.name + "'";
    auto add = [&](const std::string &what, const Stage::Place &place,
                   const ParameterInfo &tensor) {
      Piece piece = pieceOf(tensor, place, mesh, rank);
      std::vector<int64_t> start = piece.box.start;
      start.push_back(piece.first);
      if (piece.count > 0)
        list.push_back(
            {what + name, start, parameter.dtype, piece.offset, piece.count});
    };
    const ParameterInfo &own = entry.own ? *entry.own : parameter;
    add("parameter ", entry.place, own);
    if (entry.gradient)
      add("gradient of ", *entry.gradient, own);
    for (const Stage::State &state : entry.state)
      add("state " + state.name + " of ", state.place,
          state.own ? *state.own : parameter);
  }
  std::vector<int64_t> worker;
  if (program.hasWorkers())
    worker.push_back(mesh.coordinates(rank)[program.workerAxis]);
  list.push_back({"the loss", worker, DTC_F64, stage.loss, 1});
  list.push_back({"the gradient norm", worker, DTC_F64, stage.gradientNorm, 1});
  return list;
}

ReplicaCheck::ReplicaCheck(const dtc_context &context, const Arena &arena)
    : context(context), arena(arena), values(context.collectives.size()),
      hashes(context.collectives.size()) {
  int own = context.collectives.rank();
  for (int rank = 0; rank < int(values.size()); ++rank)
    if (own == 0 || own == rank) {
      values[rank] = listValues(context.program, rank);
      hashes[rank].resize(values[rank].size());
    }
  if (own == 0)
    findHolders();
}

void ReplicaCheck::findHolders() {
  std::map<std::pair<std::string, std::vector<int64_t>>, std::pair<int, size_t>>
      first;
  for (int rank = 0; rank < int(values.size()); ++rank)
    for (size_t i = 0; i < values[rank].size(); ++i) {
      Value &value = values[rank][i];
      auto entry = first.insert({{value.name, value.start}, {rank, i}}).first;
      std::tie(value.holder, value.place) = entry->second;
    }
}

void ReplicaCheck::check(int64_t step) {
  Collectives &collectives = context.collectives;
  int own = collectives.rank();
  for (size_t i = 0; i < values[own].size(); ++i) {
    const Value &value = values[own][i];
    arena.read(value.offset, value.count * sizeOf(value.dtype),
               [&](const char *data) {
                 hashes[own][i] = hash(value.dtype, data, value.count);
               });
  }
  auto bytes = [&](int rank) {
    return int64_t(hashes[rank].size() * sizeof(uint64_t));
  };
  if (own != 0)
    return collectives.sendData(0, hashes[own].data(), bytes(own));
  for (int rank = 1; rank < collectives.size(); ++rank)
    collectives.recvData(rank, hashes[rank].data(), bytes(rank));
  compare(step);
}

void ReplicaCheck::compare(int64_t step) const {
  const Value *found = nullptr; // the first that differs
  int foundRank = 0, number = 0;
  for (int rank = 0; rank < int(values.size()); ++rank)
    for (size_t i = 0; i < values[rank].size(); ++i) {
      const Value &value = values[rank][i];
      if (hashes[rank][i] == hashes[value.holder][value.place])
        continue;
      if (number++ == 0) {
        found = &value;
        foundRank = rank;
      }
    }
  if (!found)
    return;
  const Mesh &mesh = context.program.mesh;
  std::string others =
      number > 1 ? format(" (and %d more values)", number - 1) : "";
  fatal("after step %lld %s has other bits on %s than on %s%s, expected the "
        "same; see with --verify-data whether all ranks have the same data and "
        "initial weights, then run it again: if it fails in the same step, "
        "report a bug of the plan, else suspect the machine's memory",
        (long long)step, found->name.c_str(),
        mesh.describeRank(foundRank).c_str(),
        mesh.describeRank(found->holder).c_str(), others.c_str());
}
