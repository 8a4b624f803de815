//===- RuntimeFunctions.cpp - functions for communication -----------------===//

#include "RuntimeFunctions.h"
#include "llvm/ADT/StringMap.h"

using namespace dtc;
using Argument = CallArgument;

/// All collectives have the same order of parameters: the group and
/// permutation, the type and reduction, the buffers, then the layout of shares.
/// A function that starts a collective also has a slot, and contiguous shares
/// only.
static RuntimeFunction describeCollective(const CollectiveTraits &traits,
                                          bool starts) {
  RuntimeFunction result{"dtcrt_" + std::string(traits.name) +
                             (starts ? "_start" : ""),
                         EventKind::Collective,
                         traits.kind,
                         {Argument::Context, Argument::Group}};
  auto add = [&](bool condition, std::initializer_list<CallArgument> list) {
    if (condition)
      result.arguments.append(list);
  };
  bool dividesInput = traits.input == Shares::PerMember;
  bool dividesOutput = traits.output == Shares::PerMember;
  add(starts, {Argument::Slot});
  add(traits.permutes, {Argument::Permutation});
  add(traits.reduces, {Argument::Dtype, Argument::Reduction});
  add(traits.isInPlace, {Argument::InOut});
  add(!traits.isInPlace, {Argument::Input, Argument::Output});
  add(!starts && (dividesInput || dividesOutput), {Argument::Scratch});
  add(!starts && dividesInput, {Argument::InputBlocks});
  add(!starts && dividesOutput, {Argument::OutputBlocks});
  result.arguments.push_back(traits.reduces ? Argument::Count
                                            : Argument::Bytes);
  return result;
}

static std::vector<RuntimeFunction> makeTable() {
  std::vector<RuntimeFunction> table = {
      {"dtcrt_send",
       EventKind::Send,
       {},
       {Argument::Context, Argument::Stage, Argument::Tag, Argument::Slot,
        Argument::Input, Argument::Bytes}},
      {"dtcrt_recv",
       EventKind::Recv,
       {},
       {Argument::Context, Argument::Stage, Argument::Tag, Argument::Slot,
        Argument::Output, Argument::Bytes}},
      {"dtcrt_wait", EventKind::Wait, {}, {Argument::Context, Argument::Slot}},
  };
  for (const CollectiveTraits &traits : collectiveTraits)
    for (bool starts : {false, true})
      table.push_back(describeCollective(traits, starts));
  return table;
}

static const std::vector<RuntimeFunction> &getTable() {
  static const std::vector<RuntimeFunction> table = makeTable();
  return table;
}

const RuntimeFunction *dtc::findRuntimeFunction(llvm::StringRef name) {
  for (const RuntimeFunction &function : getTable())
    if (function.name == name)
      return &function;
  return nullptr;
}

const RuntimeFunction &dtc::getRuntimeFunction(EventKind event) {
  return *llvm::find_if(getTable(), [&](const RuntimeFunction &function) {
    return function.event == event;
  });
}

const RuntimeFunction &dtc::getRuntimeFunction(CollectiveKind kind,
                                               bool starts) {
  return *findRuntimeFunction("dtcrt_" + std::string(getTraits(kind).name) +
                              (starts ? "_start" : ""));
}
