//===- Describe.cpp - the operation that a rank waits for -----------------===//

#include "Describe.h"

#include "Core/Error.h"
#include "Core/Fatal.h"
#include "Program/Context.h"

using namespace dtc::rt;
using dtc::CollectiveTraits;

/// "all_reduce over dp, tp of 25.0 MiB"; the bytes are those of the larger
/// buffer, as in traces.
static std::string describeCollective(const Call &call,
                                      const Program &program) {
  const CollectiveTraits &traits = getTraits(call.kind);
  const std::vector<int> &axes = program.groups.at(size_t(call.group));
  std::string text = traits.name;
  for (int axis : axes)
    text += (axis == axes.front() ? " over " : ", ") +
            program.mesh.axes[size_t(axis)].name;
  int64_t shares = countShares(traits, program.mesh.sizeOf(axes));
  return text + " of " + formatBytes(double(call.bytes * shares));
}

/// " in stage function F of micro-batch 3". The rank may run on meanwhile, so
/// each is read once.
static std::string describeRun(const dtc_context &running) {
  int function = running.function, microbatch = running.microbatch;
  if (function < 0)
    return {};
  std::string text =
      " in stage function " + running.program.functions.at(size_t(function));
  if (microbatch >= 0)
    text += format(" of micro-batch %d", microbatch);
  return text;
}

std::string dtc::rt::describe(const Call &call, const Program *program,
                              const dtc_context *running) {
  std::string bytes = formatBytes(double(call.bytes));
  std::string peer = (program ? program->mesh : Mesh()).describeRank(call.peer);
  std::string run = running ? describeRun(*running) : "";
  switch (call.what) {
  case Call::start:
    return "the other ranks to start";
  case Call::end:
    return "the other ranks to end";
  case Call::all:
    return "all other ranks, between steps";
  case Call::any:
    return "a gradient of any worker";
  case Call::data:
    return bytes + " of data to or from " + peer + ", between steps";
  case Call::collective:
    return describeCollective(call, *program) + run;
  case Call::send:
    return "the send of " + bytes + " to " + peer + run;
  case Call::recv:
    return bytes + " from " + peer + run;
  }
  return {};
}

void dtc::rt::endForTime(int64_t seconds, const std::string &words,
                         int64_t timeout) {
  fatal("waited %lld s for %s: another rank is lost, hangs, cannot be reached, "
        "or needs more than --timeout %lld; %s",
        (long long)seconds, words.c_str(), (long long)timeout, afterLoss);
}
