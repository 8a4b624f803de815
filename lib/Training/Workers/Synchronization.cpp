//===- Synchronization.cpp - the value of --sync --------------------------===//
//
// See Synchronization.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Training/Synchronization.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace dtc;

/// Each step of delay takes the memory of the gradients.
static constexpr int64_t maxDelay = 64;
static constexpr int64_t maxAhead = int64_t(1) << 20;
/// Each fragment has a plan.
static constexpr int64_t maxFragments = 64;

static llvm::Error makeError(StringRef text, const Twine &expected) {
  return llvm::createStringError("--sync is '" + Twine(text) + "', expected " +
                                 expected);
}

/// Parses "nesterov:LR:MOMENTUM".
static std::optional<Synchronization::Outer> parseOuter(StringRef text) {
  Synchronization::Outer outer;
  if (!text.consume_front("nesterov:"))
    return std::nullopt;
  auto [lr, momentum] = text.split(':');
  if (lr.getAsDouble(outer.lr) || momentum.getAsDouble(outer.momentum) ||
      !(outer.lr > 0) || outer.lr > 1e6 || !(outer.momentum >= 0) ||
      !(outer.momentum < 1))
    return std::nullopt;
  return outer;
}

static llvm::Expected<Synchronization> parseAsync(StringRef text,
                                                  StringRef rest) {
  Synchronization sync;
  auto [ahead, rate] = rest.split(',');
  if (ahead.getAsInteger(10, sync.ahead) || sync.ahead < 0 ||
      sync.ahead > maxAhead)
    return makeError(text,
                     "async:S with S from 0 to " + Twine(maxAhead) + " steps");
  if (!rate.empty() && rate != "rate=mean" && rate != "rate=staleness")
    return makeError(text,
                     "rate=mean or rate=staleness in place of '" + rate + "'");
  sync.rateByStaleness = rate == "rate=staleness";
  sync.kind = sync.ahead == 0 ? Synchronization::Step : Synchronization::Async;
  return sync;
}

static llvm::Expected<Synchronization> parseEvery(StringRef text,
                                                  StringRef rest) {
  Synchronization sync;
  sync.kind = Synchronization::Every;
  SmallVector<StringRef> parts;
  rest.split(parts, ',');
  if (parts.front().getAsInteger(10, sync.period) || sync.period < 1 ||
      sync.period > int64_t(1) << 40)
    return makeError(text, "every:H with a number of steps from 1 on");
  for (StringRef part : ArrayRef(parts).drop_front()) {
    StringRef value = part;
    if (value.consume_front("outer=")) {
      sync.outer = parseOuter(value);
      if (!sync.outer && value != "average")
        return makeError(text, "outer=average, or outer=nesterov:LR:MOMENTUM "
                               "with a rate above 0 and a momentum of at least "
                               "0 and below 1, such as nesterov:0.7:0.9");
    } else if (value.consume_front("fragments=")) {
      if (value.getAsInteger(10, sync.fragments) || sync.fragments < 1 ||
          sync.fragments > std::min(maxFragments, sync.period))
        return makeError(text, "a number of fragments from 1 to " +
                                   Twine(std::min(maxFragments, sync.period)) +
                                   ", at most H");
    } else {
      return makeError(text,
                       "outer=... or fragments=... in place of '" + part + "'");
    }
  }
  return sync;
}

llvm::Expected<Synchronization> Synchronization::parse(StringRef text) {
  Synchronization sync;
  StringRef rest = text;
  if (text == "step")
    return sync;
  if (rest.consume_front("delayed:")) {
    if (rest.getAsInteger(10, sync.delay) || sync.delay < 0 ||
        sync.delay > maxDelay)
      return makeError(text, "delayed:T with T from 0 to " + Twine(maxDelay) +
                                 " steps");
    sync.kind = sync.delay == 0 ? Step : Delayed;
    return sync;
  }
  if (rest.consume_front("every:"))
    return parseEvery(text, rest);
  if (rest.consume_front("gossip:")) {
    auto mixing = llvm::StringSwitch<std::optional<MixingKind>>(rest)
                      .Case("ring", MixingKind::Ring)
                      .Case("torus", MixingKind::Torus)
                      .Case("exponential", MixingKind::Exponential)
                      .Case("one-peer", MixingKind::OnePeer)
                      .Default(std::nullopt);
    if (!mixing)
      return makeError(text, "gossip:ring, torus, exponential or one-peer");
    sync.kind = Gossip;
    sync.mixing = *mixing;
    return sync;
  }
  if (rest.consume_front("async:"))
    return parseAsync(text, rest);
  return makeError(text,
                   "step, delayed:T, every:H, gossip:TOPOLOGY or async:S");
}

Synchronization dtc::getSynchronization(const ParallelOptions &plan) {
  llvm::Expected<Synchronization> sync = Synchronization::parse(plan.sync);
  if (sync)
    return *sync;
  llvm::consumeError(sync.takeError());
  return {};
}

int64_t dtc::countPositions(const ParallelOptions &plan) {
  return getSynchronization(plan).hasWorkers() ? plan.dp / plan.hsdp : 1;
}

int64_t dtc::countWorkers(const ParallelOptions &plan) {
  return countPositions(plan) - (getSynchronization(plan).hasServer() ? 1 : 0);
}
