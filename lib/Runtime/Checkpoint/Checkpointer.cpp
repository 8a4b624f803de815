//===- Checkpointer.cpp - saves a training and goes on with it ------------===//

#include "Checkpointer.h"

#include "Agreement/Agree.h"
#include "Collectives/Collectives.h"
#include "Core/Error.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>
#include <sys/resource.h>
#include <unistd.h>

using namespace dtc::rt;

Checkpointer::Checkpointer(const dtc_context &context, Arena &arena,
                           const Options &options, TrainingSetting setting)
    : context(context), arena(arena), options(options),
      setting(std::move(setting)), folder(options.checkpointDir),
      pieces(listWrittenPieces(context.program, context.collectives.rank())) {
  if (!options.checkpointAsync)
    return;
  int64_t bytes = 0;
  for (const KeptPiece &piece : pieces)
    bytes += piece.bytes();
  copy.resize(size_t(bytes)); // the first use of memory is not the training's
}

Checkpointer::~Checkpointer() {
  if (writer.joinable())
    writer.join();
}

//===----------------------------------------------------------------------===//
// Resuming
//===----------------------------------------------------------------------===//

/// The value that rank 0 has. All ranks call this.
template <typename T> static T fromLeader(Collectives &collectives, T value) {
  std::vector<T> all(size_t(collectives.size()));
  collectives.gatherData(&value, all.data(), sizeof value);
  return all[0];
}

void Checkpointer::warn(const std::string &text) const {
  fprintf(stderr, "%s: warning: %s\n", options.name.c_str(), text.c_str());
}

std::string Checkpointer::describeAbsence() const {
  return format(
      "'%s' has no whole checkpoint%s; give another "
      "--checkpoint-dir%s",
      options.checkpointDir.c_str(),
      options.resumeStep >= 0
          ? format(" of step %lld", (long long)options.resumeStep).c_str()
          : "",
      options.evaluates ? "" : " to start anew");
}

std::optional<TrainingState> Checkpointer::start() {
  Collectives &collectives = context.collectives;
  bool leads = collectives.rank() == 0;
  Outcome opened = attempt([&] {
    if (!leads)
      return;
    if (options.resumeStep >= 0 && !folder.isThere())
      fail("%s", describeAbsence().c_str());
    for (const std::string &warning : folder.own())
      warn(warning);
    std::vector<int64_t> steps = folder.steps();
    if (!options.resume && !steps.empty())
      fail("'%s' has checkpoints, the newest of step %lld; resume from it with "
           "--resume, or give another --checkpoint-dir",
           options.checkpointDir.c_str(), (long long)steps[0]);
  });
  agree(collectives, opened, options.name);
  Outcome visible = attempt([&] { folder.expectVisible(); });
  int unseen = collectives.firstFailed(visible.failed);
  if (leads)
    folder.unmark();
  if (unseen >= 0)
    agree(collectives, visible, options.name);
  if (!options.resume)
    return std::nullopt;
  return resume();
}

int64_t Checkpointer::load() {
  std::optional<int64_t> step = chooseStep();
  if (!step)
    agree(context.collectives, {true, describeAbsence()}, options.name);
  Outcome outcome = attempt([&] { read(*step, folder.readManifest(*step)); });
  if (outcome.failed) // the checkpoint may be removed meanwhile
    outcome.message += "; if a training writes there, try again";
  agree(context.collectives, outcome, options.name);
  return *step;
}

/// Whether all shards of a step are as they were written. Each rank checks a
/// part of them, and the first one that finds damage reports it. All ranks call
/// this.
bool Checkpointer::isWhole(int64_t step) {
  Collectives &collectives = context.collectives;
  Outcome outcome = attempt([&] {
    CheckpointManifest manifest = folder.readManifest(step);
    for (size_t i = size_t(collectives.rank()); i < manifest.shards.size();
         i += size_t(collectives.size()))
      folder.verify(step, manifest.shards[i]);
  });
  int first = collectives.firstFailed(outcome.failed);
  if (first == collectives.rank())
    warn(format("the checkpoint of step %lld is not used: %s", (long long)step,
                outcome.message.c_str()));
  return first < 0;
}

/// The newest complete checkpoint, or the one that the user asked for. All
/// ranks take the list of rank 0, because on a network file system some ranks
/// see changes later. All ranks call this.
std::optional<int64_t> Checkpointer::chooseStep() {
  std::vector<int64_t> steps;
  if (context.collectives.rank() == 0)
    steps = folder.steps();
  for (size_t next = 0;; ++next) {
    int64_t own = next < steps.size() ? steps[next] : -1;
    if (options.resumeStep >= 0)
      own = next == 0 ? options.resumeStep : -1;
    int64_t step = fromLeader(context.collectives, own);
    if (step >= 0 && isWhole(step))
      return step;
    if (step >= 0)
      continue;
    if (next == 0)
      return std::nullopt;
    agree(context.collectives, {true, describeAbsence()}, options.name);
  }
}

void Checkpointer::read(int64_t step, const CheckpointManifest &manifest) {
  std::vector<std::string> paths;
  paths.reserve(manifest.shards.size());
  for (const CheckpointManifest::Shard &shard : manifest.shards)
    paths.push_back(folder.folderOf(step) + "/" + shard.file);
  ShardSet shards(context.program, paths);
  for (const KeptPiece &piece :
       listHeldPieces(context.program, context.collectives.rank()))
    arena.write(piece.piece.offset, piece.bytes(),
                [&](char *target) { shards.read(piece, target); });
}

std::optional<TrainingState> Checkpointer::resume() {
  std::optional<int64_t> step;
  step = chooseStep();
  bool leads = context.collectives.rank() == 0;
  if (!step) {
    if (leads)
      printf("note: '%s' has no checkpoint yet; training starts at step 1\n",
             options.checkpointDir.c_str());
    return std::nullopt;
  }
  CheckpointManifest manifest;
  Outcome outcome = attempt([&] {
    manifest = folder.readManifest(*step);
    std::vector<std::string> notes = setting.compare(manifest.setting);
    read(*step, manifest);
    if (!leads)
      return;
    printf("resumed after step %lld (%s) from '%s'\n", (long long)*step,
           manifest.setting.mesh.c_str(), folder.folderOf(*step).c_str());
    std::vector<int64_t> steps = folder.steps();
    if (!steps.empty() && steps[0] > *step)
      printf("note: the next checkpoint replaces those of later steps, to step "
             "%lld; to keep them, stop, and go on in a copy of '%s'\n",
             (long long)steps[0], options.checkpointDir.c_str());
    for (const std::string &note : notes)
      printf("note: %s\n", note.c_str());
  });
  agree(context.collectives, outcome, options.name);
  committed = step;
  // All ranks have read the checkpoint. Another one may not fit beside its
  // data.
  if (leads)
    removeFormer(manifest.state);
  return manifest.state;
}

std::optional<std::string>
Checkpointer::describe(std::optional<int64_t> soundStep) const {
  std::vector<int64_t> steps = folder.steps();
  if (steps.empty())
    return std::nullopt;
  if (soundStep == steps[0])
    return format("the newest checkpoint is of step %lld, to go on from with "
                  "--resume",
                  (long long)steps[0]);
  std::string text = format("the newest checkpoint, of step %lld, gives this",
                            (long long)steps[0]);
  if (soundStep && std::ranges::find(steps, *soundStep) != steps.end())
    text += format("; the newest that does not is of step %lld, to go on from "
                   "with --resume --resume-step %lld",
                   (long long)*soundStep, (long long)*soundStep);
  return text;
}

//===----------------------------------------------------------------------===//
// Saving
//===----------------------------------------------------------------------===//

void Checkpointer::snapshot() {
  char *to = copy.data();
  for (const KeptPiece &piece : pieces) {
    arena.read(piece.piece.offset, piece.bytes(), [&](const char *data) {
      memcpy(to, data, size_t(piece.bytes()));
    });
    to += piece.bytes();
  }
}

/// From the copy if there is one.
void Checkpointer::writeShard(int64_t step) {
  const char *from = copy.data();
  folder.writeShard(step, context.collectives.rank(), pieces,
                    [&](const KeptPiece &piece,
                        const std::function<void(const char *)> &use) {
                      if (!options.checkpointAsync)
                        return arena.read(piece.piece.offset, piece.bytes(),
                                          [&](const char *data) { use(data); });
                      use(from);
                      from += piece.bytes();
                    });
}

/// Rank 0 makes the checkpoint of all shards.
void Checkpointer::commit(const TrainingState &state) {
  if (context.collectives.rank() != 0)
    return;
  folder.commit({state, setting, {}}, context.collectives.size());
  removeFormer(state);
  // The checkpoint is complete, whatever happens to others.
  Outcome removed = attempt([&] { folder.removeAfter(state.step); });
  if (removed.failed)
    warn(removed.message);
}

/// Removes all checkpoints that are not kept, when a complete one of `state`
/// exists.
void Checkpointer::removeFormer(const TrainingState &state) const {
  std::set<int64_t> others;
  if (state.evaluations.best)
    others.insert(state.evaluations.best->step);
  if (state.soundStep)
    others.insert(*state.soundStep);
  Outcome removed = attempt(
      [&] { folder.keepNewest(state.step, options.keepCheckpoints, others); });
  if (removed.failed)
    warn(removed.message);
}

/// Gives this thread the lowest priority. The training's threads share a kernel
/// evenly, so a thread that loses its core for a moment delays all of them. On
/// Linux each thread has its own priority.
static void yieldToTraining() { setpriority(PRIO_PROCESS, id_t(gettid()), 19); }

void Checkpointer::save(const TrainingState &state) {
  finish();
  started = state;
  shard = whole = {};
  if (context.collectives.rank() == 0)
    shard = attempt([&] {
      if (folder.renew())
        warn(format("somebody has removed the folder of checkpoints '%s'; it "
                    "is made again, without the former ones",
                    options.checkpointDir.c_str()));
    });
  if (!options.checkpointAsync) {
    if (!shard.failed)
      shard = attempt([&] { writeShard(state.step); });
    return finish();
  }
  if (shard.failed) // as all ranks hear in `finish`
    return;
  snapshot();
  isShardDone = isWholeDone = false;
  writer = std::thread([this, state] {
    yieldToTraining();
    shard = attempt([&] { writeShard(state.step); });
    isShardDone = true;
    isShardDone.notify_one();
    if (!shard.failed)
      whole = attempt([&] { commit(state); });
    isWholeDone = true;
  });
}

void Checkpointer::finish() {
  if (!started)
    return;
  TrainingState state = *std::exchange(started, std::nullopt);
  isShardDone.wait(false);
  auto agreeOn = [&](Outcome outcome) {
    if (outcome.failed && committed &&
        std::ranges::count(folder.steps(), *committed) == 0)
      committed.reset(); // somebody has removed it
    if (outcome.failed)
      outcome.message +=
          committed ? format("; the newest checkpoint is of step %lld: start "
                             "again with --resume",
                             (long long)*committed)
                    : "; there is no checkpoint before it";
    try {
      agree(context.collectives, outcome, options.name);
    } catch (const Reported &) {
      folder.cancel();
      if (writer.joinable())
        writer.join();
      if (context.collectives.rank() == 0)
        folder.abandon(state.step);
      throw;
    }
  };
  agreeOn(shard);
  if (options.checkpointAsync)
    writer.join();
  else
    whole = attempt([&] { commit(state); });
  agreeOn(whole);
  committed = state.step;
}
