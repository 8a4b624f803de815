//===- ShardSetTest.cpp - states of compression in checkpoints ------------===//

#include "Checkpoint/Shards.h"
#include "TemporaryDirectory.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace dtc::rt;

namespace {

/// A parameter [4] with a state of each rank of dp, which all ranks keep at
/// offset 16 of their arenas; without rows, all ranks have the same.
Program makeProgram(int ranks, Stage::Rows rows = Stage::Rows::terms) {
  Program program{};
  program.mesh = {{{"dp", ranks}}};
  ParameterInfo parameter{};
  parameter.name = parameter.tensor = "w";
  parameter.dtype = DTC_F32;
  parameter.shape = parameter.tensorShape = {4};
  parameter.start = {0};
  ParameterInfo own = parameter;
  own.shape = own.tensorShape = {ranks, 4};
  own.start = {0, 0};
  own.splits = {{0, 0}};
  Stage::State residual{"residual", {16, std::nullopt}, own, rows, true};
  if (rows == Stage::Rows::none)
    residual.own.reset();
  Stage stage{};
  stage.parameters.push_back(
      {0, {0, std::nullopt}, std::nullopt, std::nullopt, {residual}});
  program.parameters.push_back(parameter);
  program.stages.push_back(stage);
  return program;
}

/// Writes a shard of each rank, whose residual is {1, 2, 3, 4} times the rank's
/// number from 1.
std::vector<std::string> writeShards(const TemporaryDirectory &folder,
                                     int ranks,
                                     Stage::Rows rows = Stage::Rows::terms) {
  Program program = makeProgram(ranks, rows);
  std::vector<std::string> paths;
  for (int rank = 0; rank < ranks; ++rank) {
    paths.push_back(folder / ("rank-" + std::to_string(rank)));
    writeShard(paths.back(), listWrittenPieces(program, rank),
               [&](const KeptPiece &piece, const auto &use) {
                 float values[4];
                 for (int i = 0; i < 4; ++i)
                   values[i] = piece.group == "state.residual"
                                   ? float((rank + 1) * (i + 1))
                                   : 0;
                 use(reinterpret_cast<const char *>(values));
               });
  }
  return paths;
}

std::vector<float> readResidual(const Program &program, const ShardSet &shards,
                                int rank) {
  std::vector<float> values(4, -1);
  for (const KeptPiece &piece : listHeldPieces(program, rank))
    if (piece.group == "state.residual")
      shards.read(piece, reinterpret_cast<char *>(values.data()));
  return values;
}

} // namespace

TEST(ShardSet, EachRankGetsItsOwnResidual) {
  TemporaryDirectory folder;
  Program program = makeProgram(3);
  ShardSet shards(program, writeShards(folder, 3));
  EXPECT_EQ(readResidual(program, shards, 2),
            (std::vector<float>{3, 6, 9, 12}));
}

/// 1 + 2 + 3 + 4 over 2 ranks: the sum stays what it was.
TEST(ShardSet, AnotherNumberOfRanksSharesTheSum) {
  TemporaryDirectory folder;
  Program program = makeProgram(2);
  ShardSet shards(program, writeShards(folder, 4));
  for (int rank : {0, 1})
    EXPECT_EQ(readResidual(program, shards, rank),
              (std::vector<float>{5, 10, 15, 20}));
}

TEST(ShardSet, AMissingResidualIsZero) {
  TemporaryDirectory folder;
  Program without = makeProgram(1);
  without.stages[0].parameters[0].state.clear();
  std::string path = folder / "shard";
  writeShard(path, listWrittenPieces(without, 0),
             [&](const KeptPiece &, const auto &use) {
               float zeros[4] = {};
               use(reinterpret_cast<const char *>(zeros));
             });
  Program program = makeProgram(1);
  EXPECT_EQ(readResidual(program, ShardSet(program, {path}), 0),
            (std::vector<float>{0, 0, 0, 0}));
}

/// (1 + 2 + 3 + 4) / 4.
TEST(ShardSet, AnotherNumberOfWorkersGetsTheMean) {
  TemporaryDirectory folder;
  auto paths = writeShards(folder, 4, Stage::Rows::each);
  for (Stage::Rows rows : {Stage::Rows::each, Stage::Rows::none}) {
    Program program = makeProgram(2, rows);
    ShardSet shards(program, paths);
    for (int rank : {0, 1})
      EXPECT_EQ(readResidual(program, shards, rank),
                (std::vector<float>{2.5, 5, 7.5, 10}));
  }
}

TEST(ShardSet, WorkersGetTheValueOfAllRanks) {
  TemporaryDirectory folder;
  Program program = makeProgram(3, Stage::Rows::each);
  ShardSet shards(program, writeShards(folder, 1, Stage::Rows::none));
  for (int rank : {0, 1, 2})
    EXPECT_EQ(readResidual(program, shards, rank),
              (std::vector<float>{1, 2, 3, 4}));
}
