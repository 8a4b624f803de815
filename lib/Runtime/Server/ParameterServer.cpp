//===- ParameterServer.cpp - training through a server --------------------===//

#include "ParameterServer.h"

#include "Collectives/Collectives.h"
#include "Core/Error.h"
#include "Launch/Signals.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

using namespace dtc::rt;

static int64_t sizeOfAll(const std::vector<KeptPiece> &pieces) {
  int64_t bytes = 0;
  for (const KeptPiece &piece : pieces)
    bytes += piece.bytes();
  return bytes;
}

ParameterServer::ParameterServer(const dtc_context &context, Arena &arena,
                                 const Options &options, Callbacks callbacks)
    : context(context), arena(arena), options(options),
      callbacks(std::move(callbacks)), rules(*context.program.server),
      workers(context.program.countWorkers()) {
  const Program &program = context.program;
  int rank = context.collectives.rank();
  position = program.mesh.coordinates(rank)[size_t(program.workerAxis)];
  kept = listHeldPieces(program, rank);
  pushed = listPushedPieces(program, rank);
  std::set<std::string> changing;
  for (const KeptPiece &piece : pushed)
    changing.insert(piece.parameter->name);
  for (const KeptPiece &piece : kept)
    if (piece.isParameter() && changing.contains(piece.parameter->name))
      parameters.push_back(piece);
  buffer.resize(size_t(std::max(sizeOfAll(kept), sizeOfAll(pushed))));
  givenAt.resize(size_t(workers) + 1);
  for (int other = 1; other < program.mesh.size(); ++other) {
    std::vector<int> where = program.mesh.coordinates(other);
    if (where[size_t(program.workerAxis)] == 0)
      followers.push_back(other);
  }
  for (int64_t worker = 1; worker <= workers; ++worker)
    leaders.push_back(rankOf(worker));
}

/// The rank that differs from this one in its position alone.
int ParameterServer::rankOf(int64_t other) const {
  const Program &program = context.program;
  std::vector<int> where = program.mesh.coordinates(context.collectives.rank());
  where[size_t(program.workerAxis)] = int(other);
  return program.mesh.rank(where);
}

void ParameterServer::start(int64_t firstStep, int64_t updatesBefore) {
  updates = updatesBefore;
  if (context.collectives.rank() != 0)
    return;
  if (!options.recordArrivals.empty() &&
      options.recordArrivals == options.replayArrivals)
    fail("found '%s' of --record-arrivals and --replay-arrivals, expected two "
         "files",
         options.recordArrivals.c_str());
  replayPath = options.replayArrivals;
  bool hasBegun = false;
  if (!replayPath.empty())
    for (const Arrival &arrival : readArrivals(replayPath, workers)) {
      if (arrival.share.step >= firstStep)
        replayed.push_back(arrival);
      else if (!replayed.empty())
        hasBegun = true;
    }
  if (hasBegun)
    fail("'%s' of --replay-arrivals begins step %lld before step %lld is done, "
         "so a training cannot go on between them; record with this "
         "--checkpoint-every, or replay from step 1",
         replayPath.c_str(), (long long)firstStep, (long long)firstStep - 1);
  if (!options.recordArrivals.empty())
    record = ArrivalFile(options.recordArrivals, workers, firstStep);
}

int64_t ParameterServer::run(int64_t first, int64_t last) {
  if (position > 0)
    return work();
  return context.collectives.rank() == 0 ? lead(first, last) : follow();
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void ParameterServer::send(int rank, const std::vector<KeptPiece> &pieces) {
  char *to = buffer.data();
  for (const KeptPiece &piece : pieces) {
    arena.read(piece.piece.offset, piece.bytes(), [&](const char *data) {
      memcpy(to, data, size_t(piece.bytes()));
    });
    to += piece.bytes();
  }
  context.collectives.sendData(rank, buffer.data(), to - buffer.data());
}

void ParameterServer::receive(int rank, const std::vector<KeptPiece> &pieces) {
  context.collectives.recvData(rank, buffer.data(), sizeOfAll(pieces));
  const char *from = buffer.data();
  for (const KeptPiece &piece : pieces) {
    arena.write(piece.piece.offset, piece.bytes(), [&](char *target) {
      memcpy(target, from, size_t(piece.bytes()));
    });
    from += piece.bytes();
  }
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

int64_t ParameterServer::work() {
  int server = rankOf(0);
  for (;;) {
    Order order;
    context.collectives.recvData(server, &order, sizeof order);
    if (order.kind == Kind::end) {
      receive(server, kept);
      return order.share.step;
    }
    callbacks.observe(order.share.step, true);
    receive(server, parameters);
    Push push{order.share, callbacks.compute(order.share), stopSignal() != 0};
    if (server == 0)
      context.collectives.sendNotice(server, &push, sizeof push);
    send(server, pushed);
    callbacks.observe(order.share.step, false);
  }
}

//===----------------------------------------------------------------------===//
// All ranks of the server
//===----------------------------------------------------------------------===//

/// Updates the parameters by what is pushed.
void ParameterServer::apply(const Order &order) {
  int64_t staleness = updates - givenAt[size_t(order.worker)];
  int64_t divisor =
      rules.rateByStaleness ? std::max<int64_t>(staleness, 1) : workers;
  ++updates;
  callbacks.apply(
      {updates, options.learningRate.at(order.share.step) / double(divisor)});
}

void ParameterServer::carryOut(const Order &order) {
  int worker = rankOf(order.worker);
  switch (order.kind) {
  case Kind::give:
    givenAt[size_t(order.worker)] = updates;
    context.collectives.sendData(worker, &order, sizeof order);
    return send(worker, parameters);
  case Kind::apply:
  case Kind::drop:
    receive(worker, pushed);
    if (order.kind == Kind::apply)
      apply(order);
    return;
  case Kind::end:
    for (int64_t each = 1; each <= workers; ++each) {
      context.collectives.sendData(rankOf(each), &order, sizeof order);
      send(rankOf(each), kept);
    }
  }
}

int64_t ParameterServer::follow() {
  for (;;) {
    Order order;
    context.collectives.recvData(0, &order, sizeof order);
    carryOut(order);
    if (order.kind == Kind::end)
      return order.share.step;
  }
}

//===----------------------------------------------------------------------===//
// Rank 0
//===----------------------------------------------------------------------===//

struct ParameterServer::Segment {
  ShareQueue queue;
  int64_t last;
  bool wantsStop = false;                 ///< a rank was asked to
  bool isEnding = false;                  ///< no step after `last` begins
  std::deque<int64_t> idle = {};          ///< workers that wait for a share
  std::map<Share, int64_t> holders = {};  ///< workers that have a share
  std::map<Share, Computed> arrived = {}; ///< that are not yet applied
  /// The first share that stops the training.
  std::optional<ServedStep> notFinite = {};
};

void ParameterServer::tellAll(const Order &order) {
  for (int follower : followers)
    context.collectives.sendData(follower, &order, sizeof order);
  carryOut(order);
}

void ParameterServer::waitForPush(Segment &segment) {
  Push push;
  context.collectives.recvNotice(leaders, &push, sizeof push);
  segment.arrived[push.share] = push.computed;
  segment.wantsStop |= push.wantsStop != 0;
}

/// Workers that wait get shares first, so that they do not wait for updates.
Arrival ParameterServer::chooseNext(Segment &segment) {
  std::optional<Share> next = segment.queue.next();
  if (next && !segment.idle.empty())
    return {/*isGiven=*/true, *next, segment.idle.front()};
  if (segment.arrived.empty())
    waitForPush(segment);
  return {/*isGiven=*/false, segment.arrived.begin()->first};
}

/// The next event of the file. Throws an Error if it cannot be.
Arrival ParameterServer::replayNext(Segment &segment) {
  if (replayed.empty())
    fail("'%s' of --replay-arrivals ends before step %lld, expected the order "
         "of all --steps",
         replayPath.c_str(), (long long)segment.last);
  Arrival arrival = replayed.front();
  replayed.pop_front();
  const Share &share = arrival.share;
  if (arrival.isGiven) {
    if (share.step > segment.last)
      fail(
          "'%s' of --replay-arrivals begins step %lld before step %lld is "
          "done, but this training evaluates, saves or stops after step %lld; "
          "use the --steps, --eval-every, --checkpoint-every and --autotune of "
          "the recorded training",
          replayPath.c_str(), (long long)share.step, (long long)segment.last,
          (long long)segment.last);
    bool isIdle = std::ranges::count(segment.idle, arrival.worker) > 0;
    if (segment.queue.next() != share || !isIdle)
      fail("'%s' of --replay-arrivals gives share %lld of step %lld to worker "
           "%lld, but %s; the file is of another --sync async:S, or damaged",
           replayPath.c_str(), (long long)share.index, (long long)share.step,
           (long long)arrival.worker,
           isIdle ? "another share is next" : "this worker has a share");
  } else {
    if (!segment.holders.contains(share))
      fail("'%s' of --replay-arrivals applies share %lld of step %lld, which "
           "no worker has; the file is damaged",
           replayPath.c_str(), (long long)share.index, (long long)share.step);
    while (!segment.arrived.contains(share))
      waitForPush(segment);
  }
  return arrival;
}

void ParameterServer::give(Segment &segment, const Arrival &arrival) {
  record.write(arrival);
  std::erase(segment.idle, arrival.worker);
  segment.holders[arrival.share] = arrival.worker;
  segment.queue.give();
  tellAll({Kind::give, arrival.share, arrival.worker});
}

/// Applies the gradient of a share, or drops it if it stops the training.
void ParameterServer::take(Segment &segment, const Share &share) {
  Computed computed = segment.arrived.at(share);
  int64_t worker = segment.holders.at(share);
  bool isFinite =
      std::isfinite(computed.loss) && std::isfinite(computed.gradientNorm);
  bool goesOn = isFinite || options.onNonFinite != OnNonFinite::stop;
  int64_t staleness = updates - givenAt[size_t(worker)];
  record.write({/*isGiven=*/false, share});
  tellAll({goesOn ? Kind::apply : Kind::drop, share, worker});
  segment.arrived.erase(share);
  segment.holders.erase(share);
  segment.queue.finish(share);
  segment.idle.push_back(worker);
  if (goesOn)
    return add(share, computed, staleness);
  segment.queue.stop();
  segment.isEnding = true;
  if (!segment.notFinite)
    segment.notFinite = {share.step, computed.loss, computed.gradientNorm,
                         double(staleness), /*seconds=*/0};
}

void ParameterServer::add(const Share &share, const Computed &computed,
                          int64_t staleness) {
  Sums &sums = steps[share.step];
  ++sums.shares;
  sums.loss += computed.loss;
  sums.gradientNorm += computed.gradientNorm;
  sums.staleness += double(staleness);
  reportSteps();
}

double ParameterServer::secondsSinceReport() {
  auto now = std::chrono::steady_clock::now();
  std::chrono::duration<double> seconds = now - std::exchange(lastReport, now);
  return seconds.count();
}

/// Reports the steps that are done, in order: a later step may be done before
/// an earlier one.
void ParameterServer::reportSteps() {
  auto isDone = [&](int64_t step) {
    return steps.contains(step) && steps[step].shares == workers;
  };
  int64_t end = nextStep;
  while (isDone(end))
    ++end;
  if (end == nextStep)
    return;
  double seconds = secondsSinceReport() / double(end - nextStep);
  for (auto number = double(workers); nextStep < end; ++nextStep) {
    Sums sums = steps[nextStep];
    steps.erase(nextStep);
    callbacks.report({nextStep, sums.loss / number, sums.gradientNorm / number,
                      sums.staleness / number, seconds});
  }
}

int64_t ParameterServer::lead(int64_t first, int64_t last) {
  Segment segment{ShareQueue(first, last, workers, rules.ahead), last};
  for (int64_t worker = 1; worker <= workers; ++worker)
    segment.idle.push_back(worker);
  nextStep = first;
  lastReport = std::chrono::steady_clock::now();
  while (!segment.queue.isDone()) {
    bool replays = !replayPath.empty() && !segment.isEnding;
    Arrival next = replays ? replayNext(segment) : chooseNext(segment);
    if (next.isGiven)
      give(segment, next);
    else
      take(segment, next.share);
    if (!segment.isEnding && (segment.wantsStop || stopSignal())) {
      segment.isEnding = true;
      segment.last = segment.queue.endStep();
    }
  }
  if (segment.notFinite) {
    segment.last = segment.notFinite->step;
    segment.notFinite->seconds = secondsSinceReport();
    callbacks.report(*segment.notFinite);
  }
  tellAll({Kind::end, {segment.last, 0}, 0});
  return segment.last;
}
