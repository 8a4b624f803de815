//===- Manifest.cpp - the manifest of a checkpoint ------------------------===//

#include "Manifest.h"

#include "Core/Checksum.h"
#include "Core/Error.h"
#include "Core/ForeignJson.h"
#include "System/MappedFile.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

using namespace dtc::rt;
using Json = nlohmann::ordered_json;

/// The version of the format. It increases when a program could no longer read
/// a manifest of an older one.
static constexpr int schema = 1;

//===----------------------------------------------------------------------===//
// Setting
//===----------------------------------------------------------------------===//

/// The learning rate, without the number of steps if that does not change the
/// rate.
static std::string describeSchedule(const Options &options) {
  std::string text = options.learningRate.describe();
  return options.learningRate.shape == LearningRateShape::constant
             ? text
             : text + format(" of %lld steps", (long long)options.steps);
}

TrainingSetting::TrainingSetting(const Program &program, const Options &options,
                                 std::string data)
    : model(program.model), dtype(program.dtype), optimizer(program.optimizer),
      globalBatch(program.globalBatch), seed(options.seed),
      shuffle(options.shuffle), learningRate(describeSchedule(options)),
      data(std::move(data)), mesh(program.mesh.describe()) {}

std::vector<std::string>
TrainingSetting::compare(const TrainingSetting &other) const {
  // Other values would change the order of samples or the random numbers: some
  // samples would be seen twice and others never.
  if (globalBatch != other.globalBatch)
    fail("the checkpoint is of batches of %lld, this program has %lld; compile "
         "it with --batch %lld, or, if it is of --dp auto, start as many "
         "replicas as have that batch",
         (long long)other.globalBatch, (long long)globalBatch,
         (long long)other.globalBatch);
  if (seed != other.seed)
    fail("the checkpoint was trained with --seed %llu, found --seed %llu; give "
         "the same",
         (unsigned long long)other.seed, (unsigned long long)seed);
  if (shuffle != other.shuffle)
    fail("the checkpoint was trained %s --no-shuffle; give the same",
         other.shuffle ? "without" : "with");
  std::vector<std::string> notes;
  auto note = [&](const char *what, const std::string &now,
                  const std::string &then) {
    if (now != then)
      notes.push_back(format("the %s was %s in the checkpoint and is %s now",
                             what, then.c_str(), now.c_str()));
  };
  note("model", model, other.model);
  note("precision", dtype, other.dtype);
  note("optimizer", optimizer, other.optimizer);
  note("learning rate", learningRate, other.learningRate);
  note("data", data, other.data);
  return notes;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// The checksum of the manifest without this member.
static std::string sumOf(const Json &json) {
  return format("%016llx", (unsigned long long)Checksum::of(json.dump()));
}

std::string CheckpointManifest::toJson() const {
  Json json;
  json["format"] = "dtc-checkpoint";
  json["schema"] = schema;
  json["step"] = state.step;
  json["loss_scale"] = {{"value", state.lossScale.scale},
                        {"skipped", state.lossScale.skipped},
                        {"updates", state.lossScale.done},
                        {"in_row", state.lossScale.inRow}};
  if (const auto &[best, since] = state.evaluations; best)
    json["best"] = {{"step", best->step},
                    {nameOf(best->by), best->value},
                    {"evaluations_since", since}};
  else if (since > 0)
    json["evaluations_without_number"] = since;
  if (state.soundStep)
    json["sound_step"] = *state.soundStep;
  json["setting"] = {{"model", setting.model},
                     {"dtype", setting.dtype},
                     {"optimizer", setting.optimizer},
                     {"global_batch", setting.globalBatch},
                     {"seed", setting.seed},
                     {"shuffle", setting.shuffle},
                     {"lr", setting.learningRate},
                     {"data", setting.data},
                     {"mesh", setting.mesh}};
  for (const Shard &shard : shards)
    json["shards"].push_back(
        {{"file", shard.file},
         {"bytes", shard.bytes},
         {"xxh3", format("%016llx", (unsigned long long)shard.checksum)}});
  json["xxh3"] = sumOf(json);
  return json.dump(2) + "\n";
}

static BestEvaluation readBest(const Json &json) {
  for (BestBy by :
       {BestBy::trainingLoss, BestBy::accuracy, BestBy::top5, BestBy::f1})
    if (json.contains(nameOf(by)))
      return {readWhole(json.at("step")), by, json[nameOf(by)]};
  return {readWhole(json.at("step")), BestBy::loss, json.at("loss")};
}

static TrainingState readState(const Json &json) {
  TrainingState state;
  state.step = readWhole(json.at("step"));
  const Json &scale = json.at("loss_scale");
  state.lossScale = {scale.at("value"), readWhole(scale.at("skipped")),
                     readWhole(scale.at("updates")),
                     readWhole(scale.at("in_row"))};
  if (json.contains("best"))
    state.evaluations = {readBest(json["best"]),
                         readWhole(json["best"].at("evaluations_since"))};
  else if (json.contains("evaluations_without_number"))
    state.evaluations.since = readWhole(json["evaluations_without_number"]);
  if (json.contains("sound_step"))
    state.soundStep = readWhole(json["sound_step"]);
  if (state.step < 0)
    fail("step %lld", (long long)state.step);
  return state;
}

static TrainingSetting readSetting(const Json &json) {
  TrainingSetting setting;
  setting.model = json.at("model");
  setting.dtype = json.at("dtype");
  setting.optimizer = json.at("optimizer");
  setting.globalBatch = readWhole(json.at("global_batch"));
  setting.seed = readWhole<uint64_t>(json.at("seed"));
  setting.shuffle = json.at("shuffle");
  setting.learningRate = json.at("lr");
  setting.data = json.at("data");
  setting.mesh = json.at("mesh");
  return setting;
}

CheckpointManifest CheckpointManifest::read(const std::string &path) {
  MappedFile file(path);
  try {
    Json json = parseJson<Json>(file.bytes());
    if (json.at("format") != "dtc-checkpoint")
      fail("it is of another format");
    if (int found = readWhole<int>(json.at("schema")); found > schema)
      fail("it is of schema %d, expected %d at most: a newer program wrote it",
           found, schema);
    std::string sum = json.at("xxh3");
    json.erase("xxh3");
    if (sum != sumOf(json))
      fail("it is damaged: its checksum differs");
    CheckpointManifest manifest;
    manifest.state = readState(json);
    manifest.setting = readSetting(json.at("setting"));
    for (const Json &shard : json.at("shards")) {
      std::string digits = shard.at("xxh3");
      manifest.shards.push_back({shard.at("file"), readWhole(shard.at("bytes")),
                                 strtoull(digits.c_str(), nullptr, 16)});
      // The file is relative to the folder of the checkpoint, which may be
      // moved.
      if (manifest.shards.back().file.find('/') != std::string::npos)
        fail("shard '%s' is not in its folder",
             manifest.shards.back().file.c_str());
    }
    return manifest;
  } catch (const std::exception &error) {
    fail("'%s' is no manifest of a checkpoint: %s", path.c_str(),
         describeJsonError<Json>(error).c_str());
  }
}
