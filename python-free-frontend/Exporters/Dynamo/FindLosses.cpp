//===- FindLosses.cpp - what the file does not have any more --------------===//
//
// Nothing is restored here: warnings name what the exporter took out.
//
//===----------------------------------------------------------------------===//

#include "Exporters/Dynamo/CallTable.h"
#include "Exporters/Dynamo/Rules.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

/// Batch norms that the exporter merged with the layers before them.
static void findFoldedNorm(const RecordedProgram &program, int index,
                           Findings &findings) {
  const NodeRecord &origin = program.origin(index);
  StringRef op = program.node(index).op_type();
  if (!isBatchNorm(*origin.call) || !(op.starts_with("Conv") || op == "Gemm"))
    return;
  findings.add(Finding::FoldedNorm, quote(origin.module()));
  for (const Origin *lost : program.findTensors(*origin.call))
    findings.tensors.explained.insert(lost->name);
}

/// Finds a lost sum that keeps a divisor or a logarithm from zero: the exporter
/// takes numbers up to 1e-8 for 0, and leaves out their sums.
static void findDroppedSum(const RecordedProgram &program, int index,
                           Findings &findings) {
  const onnx::NodeProto &node = program.node(index);
  const RecordedCall &call = *program.origin(index).call;
  unsigned operand = node.op_type() == "Div";
  if (operand >= call.arguments.size() ||
      call.arguments[operand].values.size() != 1 ||
      !is_contained({"Div", "Log", "Sqrt", "Reciprocal"}, node.op_type()))
    return;
  StringRef value = call.arguments[operand].values.front();
  // The exporter leaves one of several equal sums.
  const std::string &input = node.input(operand);
  if (dropNumber(value) == "add" && program.isGone(value) &&
      !program.findTensor(input) && dropNumber(input) != "add")
    findings.add(Finding::DroppedSum, quote(node.name()));
}

/// The other names of ties.
static StringSet<> findOthers(const Findings &findings) {
  StringSet<> others;
  for (const auto &entry : findings.tensors.aliases)
    others.insert(entry.second.begin(), entry.second.end());
  return others;
}

/// Parameters that the file does not have, unless no call that is gone can have
/// used any: then the model does not use them, or uses them by the other name
/// of a tie. `isMerged`: a call is gone that equalled another. Returns whether
/// there are any.
static bool findMissing(const RecordedProgram &program, bool isMerged,
                        Findings &findings) {
  StringSet<> others = findOthers(findings);
  std::vector<const Origin *> missing;
  for (const Origin &tensor : program.record.origins())
    if (tensor.kind == Origin::Parameter && !program.findTensor(tensor.name) &&
        !others.contains(tensor.name) &&
        !findings.tensors.explained.contains(tensor.name))
      missing.push_back(&tensor);
  bool isNamed = any_of(missing, [&](const Origin *tensor) {
    return program.getNamed().contains(tensor->argument);
  });
  // A call that only moves elements, or computes no floats, loses no use.
  auto mayUse = [&](const auto &entry) {
    StringRef result = entry.first();
    if (!program.isGone(result) || findings.attributed.contains(result))
      return false;
    if (const onnx::TensorProto *stored = program.findTensor(result))
      return isFloatTensor(stored);
    return !isMove(result) &&
           !is_contained(
               {CallKind::Create, CallKind::Compare, CallKind::Dropout},
               getKind(result));
  };
  if (!isMerged && !isNamed && none_of(program.getNamed(), mayUse))
    return false;
  for (const Origin *tensor : missing)
    findings.add(Finding::Missing, quote(tensor->name));
  return !missing.empty();
}

/// Finds what the file lacks because the exporter merged equal calls, such as
/// those of a network and its copy, which begin with equal parameters.
static void findMergedLosses(const RecordedProgram &program,
                             Findings &findings) {
  auto merged = program.findMerged();
  auto calls = program.findCalls();
  // Some nodes of a layer have no call, such as one that splits a parameter.
  bool isUnclear = false;
  for (int index = 0; index < program.size(); ++index)
    isUnclear |= !program.origin(index).call &&
                 any_of(program.node(index).input(), [&](StringRef input) {
                   return program.record.find(input);
                 });
  if (findMissing(program, isUnclear || !merged.empty(), findings))
    return;
  // A copy may be in buffers. One module that is called twice has none.
  auto readsParameter = [&](const auto &entry) {
    auto call = calls.find(entry.first);
    return call != calls.end() &&
           any_of(
               program.findTensors(*program.origin(call->second.front()).call),
               [](const Origin *tensor) {
                 return tensor->kind == Origin::Parameter;
               });
  };
  if (any_of(merged, readsParameter))
    for (const Origin &tensor : program.record.origins())
      if (tensor.kind != Origin::Parameter && !program.isUsed(tensor.name))
        findings.add(Finding::LostCopy, quote(tensor.name));
}

void findLosses(const RecordedProgram &program, Findings &findings) {
  for (int index = 0; index < program.size(); ++index)
    if (program.origin(index).call) {
      findFoldedNorm(program, index, findings);
      findDroppedSum(program, index, findings);
    }
  findMergedLosses(program, findings);
}

void findUnread(const RecordedProgram &program,
                ArrayRef<std::string> parameters, Findings &findings) {
  StringSet<> others = findOthers(findings), reads = program.findReads();
  for (const std::string &name : parameters)
    if (program.record.find(name)->kind == Origin::Parameter &&
        !others.contains(name) && reads.insert(name).second)
      findings.add(Finding::Unread, quote(name));
}

} // namespace dtc::frontend
