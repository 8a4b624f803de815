//===- Diagnose.cpp - a test of the machine for a program -----------------===//
//
// Helps users to start a program on a new machine, and to report the machine to
// others.
//
//===----------------------------------------------------------------------===//

#include "Diagnose.h"

#include "Agreement/Agree.h"
#include "Collectives/Collectives.h"
#include "CommandLine/Version.h"
#include "Core/Elements.h"
#include "Core/Error.h"
#include "Core/Fatal.h"
#include "Core/Outcome.h"
#include "Device/Device.h"
#include "Device/RecordedCalls.h"
#include "Launch/Environment.h"
#include "Metrics/Units.h"
#include "Program/Context.h"
#include "System/Machine.h"
#include "Target/Target.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

using namespace dtc::rt;

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The time in which all library calls of a stage are tried, without the first
/// of each.
constexpr double secondsOfCalls = 1;

/// Collectives that send nothing, for a rank whose library calls are recorded.
class NoCollectives : public Collectives {
public:
  NoCollectives(const Program &program, int rank)
      : program(program), ownRank(rank) {}

  int rank() const override { return ownRank; }
  int size() const override { return program.mesh.size(); }
  int localSize() const override { return 1; }
  int machine() const override { return ownRank; }
  void createGroups(const Program &) override {}
  void run(int, const Collective &) override {}
  void start(int, int, const Collective &) override {}
  int groupRank(int group) override {
    return program.mesh.place(program.groups[size_t(group)], ownRank);
  }
  int groupSize(int group) override {
    return program.mesh.sizeOf(program.groups[size_t(group)]);
  }
  void send(int, int, int, const void *, int64_t) override {}
  void recv(int, int, int, void *, int64_t) override {}
  void wait(int) override {}
  bool test(int) override { return true; }
  bool poll() override { return false; }
  void sendData(int, const void *, int64_t) override {}
  void recvData(int, void *, int64_t) override {}
  void gatherData(const void *, void *, int64_t) override {}
  int firstFailed(bool failed) override { return failed ? ownRank : -1; }
  void barrier() override {}
  void finish() override {}
  void abort() override { _Exit(1); }

private:
  const Program &program;
  int ownRank;
};

/// Prints each line at once, because the next call may not return.
class Lines {
public:
  explicit Lines(std::string prefix) : prefix(std::move(prefix)) {}

  void print(const std::string &text) const {
    std::string all;
    for (size_t begin = 0; begin < text.size();) {
      size_t end = std::min(text.find('\n', begin), text.size());
      all += prefix + text.substr(begin, end - begin) + "\n";
      begin = end + 1;
    }
    fwrite(all.data(), 1, all.size(), stdout);
    fflush(stdout);
  }
  void fail(const std::string &text) {
    print(text);
    ++failures;
  }
  int failed() const { return failures; }

private:
  std::string prefix;
  int failures = 0;
};

double loadNumber(dtc_dtype dtype, const void *from) {
  return visitElement(dtype, [&](auto value) {
    memcpy(static_cast<void *>(&value), from, sizeof value);
    return double(value);
  });
}

/// Bytes of 0x3f are a number of about one in all floating-point types but f64.
constexpr int filledByte = 0x3f;

double filledValue(dtc_dtype dtype) {
  char bytes[8];
  memset(bytes, filledByte, sizeof bytes);
  return loadNumber(dtype, bytes);
}

} // namespace

/// Fills the operands of a product, computes it, and checks the result. Returns
/// the error, or nothing.
static std::string checkProduct(const RecordedCall &call, Arena &arena,
                                int64_t arenaBytes, Device &device) {
  const RecordedProduct &product = *call.product;
  auto isInArena = [&](const void *place) {
    int64_t offset = static_cast<const char *>(place) - arena.address();
    return offset >= 0 && offset < arenaBytes;
  };
  if (!isInArena(product.a) || !isInArena(product.b) || !isInArena(product.c))
    return {};
  auto fill = [&](const void *place, int64_t bytes, int byte) {
    arena.write(arena.offsetOf(place), bytes,
                [&](char *to) { memset(to, byte, size_t(bytes)); });
  };
  int64_t size = sizeOf(product.dtype), resultSize = sizeOf(product.resultType);
  fill(product.a, product.aCount * size, filledByte);
  fill(product.b, product.bCount * size, filledByte);
  fill(product.c, product.cCount * resultSize, 0);
  call.make();
  device.synchronize();
  double value = filledValue(product.dtype);
  double expected = double(product.k) * value * value;
  if (product.dtype == DTC_F16 && product.resultType == DTC_F16 &&
      expected > 6e4)
    return {};
  std::string wrong;
  for (int64_t element : {int64_t(0), product.cCount - 1})
    arena.read(arena.offsetOf(product.c) + element * resultSize, resultSize,
               [&](const char *from) {
                 double found = loadNumber(product.resultType, from);
                 if (!(std::abs(found - expected) <= 0.02 * expected))
                   wrong = format("WRONG: element %lld is %g, expected %g",
                                  (long long)element, found, expected);
               });
  return wrong;
}

/// Repeats a call until its time is over. Returns the seconds of one call.
static double measure(const std::function<void()> &make, Device &device,
                      double seconds) {
  auto once = [&] {
    Clock::time_point begin = Clock::now();
    make();
    device.synchronize();
    return since(begin);
  };
  // The first time, a library may choose an algorithm, or compile one.
  if (once() > seconds)
    return once();
  Clock::time_point begin = Clock::now();
  int made = 0;
  do
    make();
  while (++made < 1000 && since(begin) < seconds / 2);
  device.synchronize();
  return since(begin) / made;
}

/// Tries each library call of a rank's plan by itself.
static void tryCalls(const Program &program, int rank, Device &device,
                     Lines &lines) {
  NoCollectives none(program, rank);
  dtc_context context(program, rank, none, device, /*overlaps=*/false);
  const Stage &plan = context.plan();
  std::unique_ptr<Arena> arena =
      device.makeArena(plan.arenaBytes, plan.hostBytes, Sharing::none);
  RecordedCalls recorded;
  context.recorded = &recorded;
  device.run(program.steps[context.stage], context, *arena);
  device.synchronize();
  context.recorded = nullptr;
  std::string failedKernel;
  int64_t kernels = 0, failedKernels = 0, calls = 0;
  for (const RecordedCall &call : recorded.all())
    ++(call.isKernel ? kernels : calls);
  double share = secondsOfCalls / double(std::max<int64_t>(calls, 1));
  // Kernels first: products change the numbers that kernels may use as indices.
  std::vector<RecordedCall> ordered(recorded.all().begin(),
                                    recorded.all().end());
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const RecordedCall &call) { return call.isKernel; });
  for (const RecordedCall &call : ordered) {
    std::string result;
    Outcome tried = attempt([&] {
      if (call.isKernel) {
        call.make();
        device.synchronize();
        return;
      }
      if (call.product)
        result = checkProduct(call, *arena, plan.arenaBytes, device);
      if (!result.empty())
        return;
      double seconds = measure(call.make, device, share);
      result = "ok, " + formatTime(seconds);
      if (call.flops > 0)
        result += ", " + formatCount(call.flops / seconds, " ") + "FLOP/s";
      if (call.makeApart)
        result += "; apart from what follows " +
                  formatTime(measure(call.makeApart, device, share));
    });
    if (call.isKernel) {
      failedKernels += tried.failed;
      if (tried.failed && failedKernel.empty())
        failedKernel = call.what + ": " + tried.message;
      continue;
    }
    std::string line = format(
        "call       %s, %lld a step: %s", call.what.c_str(),
        (long long)call.count,
        tried.failed ? ("FAILED: " + tried.message).c_str() : result.c_str());
    if (tried.failed || result.starts_with("WRONG"))
      lines.fail(line);
    else
      lines.print(line);
  }
  if (failedKernels)
    lines.fail(format("kernels    %lld of %lld FAILED, the first: %s",
                      (long long)failedKernels, (long long)kernels,
                      failedKernel.c_str()));
  else if (kernels)
    lines.print(
        format("kernels    %lld different ones ran", (long long)kernels));
  if (!calls)
    lines.print("call       none: the plan computes all by kernels");
}

//===----------------------------------------------------------------------===//
// Between ranks
//===----------------------------------------------------------------------===//

/// Size of the reduction that is tried: f32 numbers, at the arena's begin.
constexpr int64_t reducedCount = int64_t(1) << 22;
static int triedGroup;

/// A plan of one collective.
static void reduceOnce(dtc_context *context, char *arena, char *) {
  dtcrt_all_reduce(context, triedGroup, DTC_F32, DTC_SUM, arena, reducedCount);
}

static std::string nameOf(const Program &program, size_t group) {
  std::string name;
  for (int axis : program.groups[group])
    name += (name.empty() ? "" : " x ") + program.mesh.axes[size_t(axis)].name;
  return name;
}

static void tryGroups(const Program &program, Collectives &collectives,
                      Device &device, Lines &lines) {
  collectives.createGroups(program);
  dtc_context context(program, collectives.rank(), collectives, device,
                      /*overlaps=*/false);
  collectives.observe(context);
  int64_t bytes = reducedCount * int64_t(sizeof(float));
  std::unique_ptr<Arena> arena = device.makeArena(
      bytes, 0, collectives.sharesArena() ? Sharing::machine : Sharing::none);
  std::string note = collectives.attach(*arena);
  if (!note.empty() && collectives.rank() == 0)
    lines.print("note       " + note);
  auto fill = [&](float value) {
    arena->write(0, bytes, [&](char *to) {
      std::fill_n(reinterpret_cast<float *>(to), reducedCount, value);
    });
  };
  for (size_t group = 0; group < program.groups.size(); ++group) {
    triedGroup = int(group);
    int members = collectives.groupSize(triedGroup);
    if (members == 1)
      continue;
    fill(1);
    device.run(reduceOnce, context, *arena);
    device.synchronize();
    float found = 0;
    arena->read(bytes - int64_t(sizeof(float)), sizeof(float),
                [&](const char *from) { memcpy(&found, from, sizeof found); });
    fill(0);
    collectives.barrier();
    constexpr int times = 5;
    Clock::time_point begin = Clock::now();
    for (int i = 0; i < times; ++i)
      device.run(reduceOnce, context, *arena);
    device.synchronize();
    double seconds = since(begin) / times;
    std::string line = format(
        "all_reduce over %s, %d ranks, %s: ", nameOf(program, group).c_str(),
        members, formatBytes(double(bytes)).c_str());
    if (found != float(members))
      lines.fail(line +
                 format("WRONG: %g, expected %d", double(found), members));
    else if (collectives.rank() == 0)
      lines.print(line + format("ok, %s, %.3g GB/s of each rank",
                                formatTime(seconds).c_str(),
                                2.0 * (members - 1) / members * double(bytes) /
                                    seconds / 1e9));
  }
  // The engines observe the context, so all ranks wait before it goes.
  collectives.barrier();
}

static void tryRanks(Program &program, const Options &options, Lines &lines) {
  std::unique_ptr<Collectives> launched = startCollectives(options);
  setFatalContext(launched.get(), options.name + ": ");
  if (launched->size() != program.mesh.size() && program.mesh.openAxis < 0) {
    launched->finish();
    throw Error(format("the plan has %d ranks, and %d were started",
                       program.mesh.size(), launched->size()));
  }
  std::unique_ptr<Device> device;
  {
    std::unique_ptr<Collectives> overlay =
        overlayCollectives(options, *launched);
    Collectives &collectives = overlay ? *overlay : *launched;
    device = openDevice(options, collectives);
    if (collectives.rank() == 0)
      lines.print(format("ranks      %d have met", collectives.size()));
    program.setRanks(collectives.size());
    tryGroups(program, collectives, *device, lines);
  }
  launched->finish();
}

//===----------------------------------------------------------------------===//

int dtc::rt::diagnose(Program &program, const Options &options) {
  Environment environment;
  Outcome known = attempt([&] { environment = Environment::get(); });
  bool isRank = environment.launcher != Launcher::none;
  Lines lines(isRank ? format("[%d] ", environment.rank) : "");
  if (environment.localRank == 0) // one for each machine
    lines.print(describeVersion(program) + describeMachine() +
                describeEnvironment());
  if (known.failed)
    lines.fail("launcher   FAILED: " + known.message);
  else
    lines.print(format("launcher   %s",
                       isRank ? environment.name : "none, one process"));
  auto step = [&](const char *name, const auto &body) {
    Outcome outcome = attempt(body);
    if (outcome.failed)
      lines.fail(format("%-10s FAILED: %s", name, outcome.message.c_str()));
    return !outcome.failed;
  };
  for (const DeviceLine &line :
       describeDevices(program.mesh.size() > 1 || program.mesh.openAxis >= 0))
    line.isFailure ? lines.fail(line.text) : lines.print(line.text);
  // One process tries the calls of all stages. A rank tries its own calls.
  makeFatalThrow();
  std::unique_ptr<Device> device;
  if (step("device", [&] { device = openOwnDevice(options, environment); })) {
    lines.print("device     " + device->describe());
    int stages = program.mesh.sizeOf(stageAxis);
    bool isMember = environment.rank < program.mesh.size();
    for (int rank = 0, seen = 0; rank < program.mesh.size() && seen < stages;
         ++rank) {
      bool isOwn = isRank && isMember
                       ? rank == environment.rank
                       : program.mesh.coordinate(rank, stageAxis) == seen;
      if (!isOwn)
        continue;
      ++seen;
      lines.print("plan       " + program.mesh.describeRank(rank));
      step("plan", [&] { tryCalls(program, rank, *device, lines); });
    }
  }
  device.reset();
  // An error of communication ends the job, because other ranks may wait.
  makeFatalThrow(false);
  if (isRank)
    step("ranks", [&] {
      try {
        tryRanks(program, options, lines);
      } catch (const Reported &) {
        throw Error("see the error");
      }
    });
  setFatalContext(nullptr, options.name + ": ");
  lines.print(lines.failed() ? format("diagnosis  %d failed", lines.failed())
                             : std::string("diagnosis  all is well"));
  return lines.failed() ? 1 : 0;
}
