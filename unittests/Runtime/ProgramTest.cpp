//===- ProgramTest.cpp ----------------------------------------------------===//

#include "CommandLine/ParseOptions.h"
#include "Expect.h"
#include "Options/Options.h"
#include "TestManifest.h"

using namespace dtc::rt;
using Json = nlohmann::json;

TEST(Program, ReadsTheManifest) {
  Program program = readJson(validManifest());
  EXPECT_EQ(program.mesh.size(), 4);
  EXPECT_EQ(program.mesh.describe(), "pp 1 x dp 4");
  EXPECT_EQ(program.mesh.describeRank(3), "rank 3 (pp 0, dp 3)");
  EXPECT_EQ(program.blockRows(), 2);
  EXPECT_EQ(program.learningRate, 0.5);
  EXPECT_EQ(program.inputs[0].bounds, std::vector<int64_t>{10});
  EXPECT_EQ(program.stages[0].parameters[0].gradient->offset, 192);
  EXPECT_EQ(program.groups[1], (std::vector<int>{0, 1}));
}

/// Counts tokens for any loss: the labels, or the inputs that look up rows of a
/// table.
TEST(Program, CountsTokens) {
  Program program;
  auto add = [&](dtc_dtype dtype, std::vector<int64_t> shape, InputKind kind,
                 std::vector<int64_t> bounds) {
    InputInfo input;
    input.dtype = dtype;
    input.shape = std::move(shape);
    input.kind = kind;
    input.bounds = std::move(bounds);
    program.inputs.push_back(input);
    return program.tokensPerSample();
  };
  EXPECT_EQ(add(DTC_F32, {8, 64}, InputKind::input, {}), 0);
  EXPECT_EQ(add(DTC_I64, {8}, InputKind::label, {10}), 0);
  EXPECT_EQ(add(DTC_I64, {8, 48}, InputKind::input, {}), 0) << "a mask";
  EXPECT_EQ(add(DTC_I64, {8, 32}, InputKind::input, {100}), 32);
  EXPECT_EQ(add(DTC_I64, {8, 16}, InputKind::label, {100}), 16);
}

TEST(Program, RanksAreRowMajor) {
  Mesh mesh{{{"pp", 2}, {"dp", 4}}};
  EXPECT_EQ(mesh.coordinates(6), (std::vector<int>{1, 2}));
  EXPECT_EQ(mesh.rank({1, 2}), 6);
  EXPECT_EQ(mesh.coordinate(6, "pp"), 1);
  EXPECT_EQ(mesh.coordinate(6, "tp"), 0);
  EXPECT_EQ(mesh.sizeOf("tp"), 1);
  EXPECT_EQ(mesh.describeRank(6), "rank 6 (pp 1, dp 2)");
  EXPECT_EQ(Mesh().describeRank(0), "rank 0");
}

TEST(Program, PlacesAmongMembers) {
  Mesh mesh{{{"pp", 2}, {"dp", 3}, {"tp", 2}}};
  for (const std::vector<int> &axes :
       std::vector<std::vector<int>>{{}, {1}, {2, 0}, {0, 1, 2}})
    for (int rank = 0; rank < mesh.size(); ++rank) {
      std::vector<int> members = mesh.members(axes, rank);
      EXPECT_EQ(int(members.size()), mesh.sizeOf(axes));
      EXPECT_EQ(members.at(size_t(mesh.place(axes, rank))), rank);
    }
}

TEST(Program, RefusesBrokenManifests) {
  auto broken = [](const char *pointer, Json value) {
    Json manifest = validManifest();
    manifest[Json::json_pointer(pointer)] = std::move(value);
    return manifest;
  };
  EXPECT_ERROR(readJson(validManifest(), DTC_ABI_VERSION + 1),
               "compile it again");
  EXPECT_ERROR(readJson(validManifest(), DTC_ABI_VERSION, 2),
               "1 stages and 2 step functions, expected 1");
  EXPECT_ERROR(readJson(Json("text")), "corrupt program manifest");
  EXPECT_ERROR(readJson(broken("/global_batch", 12)), "no multiple of 8");
  EXPECT_ERROR(readJson(broken("/microbatches", 0)), "no multiple of 0");
  EXPECT_ERROR(readJson(broken("/groups/0/0", "tp")),
               "'tp' is not in the mesh");
  EXPECT_ERROR(readJson(broken("/inputs/0/dtype", "f8")), "'f8'");
  EXPECT_ERROR(readJson(broken("/inputs/0/kind", "x")),
               "expected one of input");
  EXPECT_ERROR(readJson(broken("/inputs/0/shape", {8, 3})),
               "expected the global batch 16");
  EXPECT_ERROR(readJson(broken("/stages/0/parameters/0/offset", 480)),
               "outside the arena of 512 bytes");
  EXPECT_ERROR(readJson(broken("/stages/0/parameters/0/gradient/offset", 196)),
               "misaligned");
  EXPECT_ERROR(readJson(broken("/stages/0/inputs/0/index", 5)), "corrupt");
  EXPECT_ERROR(readJson(broken("/mesh/1/size", 0)), "size 0");
  EXPECT_ERROR(readJson(broken("/mesh/1/size", 4e100)),
               "found 4e+100, expected a whole number of 32 bits");
  EXPECT_ERROR(readJson(broken("/global_batch", 15.5)), "found 15.5");
  EXPECT_ERROR(readJson(broken("/model_flops", 1.5)), "found 1.5");
  EXPECT_ERROR(readJson(broken("/ops", {{{"name", "relu"}}})), "flops");
  EXPECT_ERROR(readJson(broken("/mesh/0/size", 1 << 30)), "more ranks");
  int64_t large = int64_t(1) << 40;
  EXPECT_ERROR(readJson(broken("/inputs/0/shape", {16, large, large})),
               "at most 2^48 elements");
  EXPECT_ERROR(readJson(broken("/stages/0/inputs/0/offset", INT64_MAX / 8 * 8)),
               "outside the arena of 512 bytes");
  // The manifest has no host memory, then too little.
  Json onHost = broken("/stages/0/parameters/0/offset", DTC_HOST_MEMORY + 64);
  EXPECT_ERROR(readJson(onHost), "outside the host's memory of 0 bytes");
  onHost["stages"][0]["host_bytes"] = 96;
  EXPECT_ERROR(readJson(onHost), "at offset 64 with 48 bytes");
  onHost["stages"][0]["host_bytes"] = 128;
  EXPECT_EQ(readJson(onHost).stages[0].hostBytes, 128);
  // Only parameters and state may be in host memory.
  onHost["stages"][0]["loss"] = DTC_HOST_MEMORY;
  EXPECT_ERROR(readJson(onHost), "outside the arena of 512 bytes");
  EXPECT_ERROR(readJson(broken("/parameters/0/splits",
                               Json::array({{{"axis", "dp"}, {"dim", 2}}}))),
               "is split along dimension 2");
  EXPECT_ERROR(readJson(broken("/worker_axis", "dp")), "no program 'average'");
  Json programs = {{{"name", "sync"}, {"period", 4}, {"turn", 4}}};
  EXPECT_ERROR(readJson(broken("/programs", programs)),
               "program 'sync' has turn 4 of 4 steps");
}

TEST(Program, RefusesMissingKeys) {
  const char *pointers[] = {"/model",
                            "/dtype",
                            "/weights_file",
                            "/phases",
                            "/optimizer/name",
                            "/optimizer/lr",
                            "/inputs/0/kind",
                            "/parameters/0/trainable",
                            "/parameters/0/init",
                            "/stages/0/parameters/0/gradient/offset",
                            "/stages/0/parameters/0/state",
                            "/loss",
                            "/eval_sums",
                            "/stages/0/loss",
                            "/stages/0/eval"};
  for (const char *text : pointers) {
    SCOPED_TRACE(text);
    Json::json_pointer pointer(text);
    Json manifest = validManifest();
    manifest.at(pointer.parent_pointer()).erase(pointer.back());
    EXPECT_ERROR(readJson(manifest), "it has no '" + pointer.back() + "'");
  }
  Json noCount = validManifest();
  noCount["eval_sums"].erase(1);
  EXPECT_ERROR(readJson(noCount), "an evaluation has no sum 'count' of size 1");
  Json manifest = validManifest();
  manifest["parameters"][0]["init"] = "normal";
  EXPECT_ERROR(readJson(manifest), "it has no 'init_scale'");
}

static Options parse(std::vector<const char *> words) {
  Program program = readJson(validManifest());
  words.insert(words.begin(), "t");
  std::string help;
  auto options = parseOptions(program, int(words.size()),
                              const_cast<char **>(words.data()), help);
  EXPECT_TRUE(options);
  return *options;
}

TEST(Options, Values) {
  Options options = parse({"--data", "synthetic", "--steps", "7"});
  EXPECT_EQ(options.steps, 7);
  EXPECT_EQ(options.learningRate.peak, 0.5); // the plan's
  EXPECT_EQ(options.learningRate.shape, LearningRateShape::constant);
  EXPECT_TRUE(options.shuffle);
  options = parse({"--data=d", "--lr", "1e-3", "--no-shuffle", "--seed", "9"});
  EXPECT_EQ(options.learningRate.peak, 1e-3);
  EXPECT_FALSE(options.shuffle);
  EXPECT_EQ(options.seed, 9u);
  options = parse({"--data", "d", "--lr-schedule", "one-cycle", "--steps", "9",
                   "--warmup-steps", "3", "--min-lr", "1e-5"});
  EXPECT_EQ(options.learningRate.shape, LearningRateShape::oneCycle);
  EXPECT_EQ(options.learningRate.steps, 9);
  EXPECT_EQ(options.learningRate.warmup, 3);
  EXPECT_EQ(options.learningRate.minimum, 1e-5);
  options = parse({"--data", "d", "--matmul", "onednn", "--progress", "bar"});
  EXPECT_EQ(options.matmul, MatMulEngine::oneDnn);
  EXPECT_EQ(options.progress, ProgressStyle::bar);
}

TEST(Options, Errors) {
  EXPECT_ERROR(parse({"--data", "d", "--steps", "0"}),
               "--steps: found '0', expected a whole number of at least 1; to "
               "evaluate without training, use --evaluate");
  EXPECT_ERROR(parse({"--data", "d", "--predict", "p.npy"}),
               "found --predict, expected --evaluate with it");
  EXPECT_ERROR(parse({"--data", "d", "--evaluate", "--lr", "1"}),
               "found --lr with --evaluate, which trains nothing");
  EXPECT_ERROR(parse({"--data", "d", "--evaluate", "--check-replicas"}),
               "found --check-replicas with --evaluate, which trains nothing");
  EXPECT_ERROR(parse({"--data", "d", "--evaluate", "--resume"}),
               "found --resume, expected --checkpoint-dir DIR with it");
  EXPECT_ERROR(parse({"--data", "d", "--evaluate", "--save-weights", "w"}),
               "found --save-weights with --evaluate, which trains nothing");
  EXPECT_ERROR(parse({"--data", "d", "--evaluate", "--init-weights", "w",
                      "--checkpoint-dir", "c"}),
               "found --init-weights and --checkpoint-dir with --evaluate, "
               "expected one of them");
  EXPECT_ERROR(parse({"--data", "d", "--eval-every", "1", "--best-by", "f1"}),
               "--best-by: found 'f1', expected loss or accuracy");
  EXPECT_ERROR(parse({"--data", "d", "--eval-every", "0"}),
               "--eval-every: found '0'");
  EXPECT_ERROR(parse({"--data", "d", "--eval-data", "e"}),
               "found --eval-data, expected --eval-every N with it");
  EXPECT_ERROR(parse({"--data", "d", "--eval-batches", "1"}),
               "found --eval-batches, expected --eval-every N with it");
  EXPECT_ERROR(parse({"--data", "synthetic", "--eval-every", "1"}),
               "found --eval-every with --data synthetic, expected --eval-data "
               "DIR with it");
  EXPECT_ERROR(parse({"--data", "d", "--steps", "many"}), "found 'many'");
  EXPECT_ERROR(parse({"--data", "d", "--lr", "-1"}), "found '-1'");
  EXPECT_ERROR(parse({"--data", "d", "--lr", "nan"}), "found 'nan'");
  EXPECT_ERROR(parse({"--data", "d", "--min-lr", "-1"}), "--min-lr: found");
  EXPECT_ERROR(parse({"--data", "d", "--warmup-steps", "-1"}),
               "--warmup-steps: found '-1'");
  EXPECT_ERROR(parse({"--data", "d", "--steps", "5", "--lr-schedule", "cosine",
                      "--warmup-steps", "5"}),
               "--warmup-steps is 5, expected fewer than the 5 --steps");
  EXPECT_ERROR(parse({"--data", "d", "--lr-schedule", "step"}),
               "--lr-schedule: found 'step', expected constant or linear or "
               "cosine or one-cycle");
  EXPECT_ERROR(parse({"--data", "d", "--seed", "-3"}), "found '-3'");
  EXPECT_ERROR(parse({"--data", "d", "--threads", "0"}), "--threads: found");
  EXPECT_ERROR(parse({"--data", "d", "--save-ema", "f"}),
               "found --save-ema, but this program keeps no moving averages");
  EXPECT_ERROR(parse({"--data", "d", "--bogus"}), "--bogus");
  EXPECT_ERROR(parse({"--data", "d", "--progress", "loud"}),
               "--progress: found 'loud', expected auto or plain or bar");
  EXPECT_ERROR(parse({"--data", "d", "--matmul", "foo"}),
               "--matmul: found 'foo', expected builtin or onednn");
}
