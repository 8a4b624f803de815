//===- ReplicaProof.cpp - proof that code fits any number of replicas -----===//
//
// Code that is compiled for two replicas is right for any number of them if the
// code of a rank does not depend on that number. To prove it, dtc also compiles
// for three and compares both (docs/Architecture/Parallel.md).
//
//===----------------------------------------------------------------------===//

#include "dtc/Lowering/Program.h"
#include "dtc/Pipelines/Pipelines.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace dtc;
namespace json = llvm::json;

static bool areEqual(Region &a, Region &b) {
  return OperationEquivalence::isRegionEquivalentTo(
      &a, &b, OperationEquivalence::IgnoreLocations);
}

/// Whether two ops have the same name, types and attributes, except for
/// constant values.
static bool areAlike(Operation &a, Operation &b) {
  return a.getName() == b.getName() &&
         a.getAttrDictionary() == b.getAttrDictionary() &&
         a.getResultTypes() == b.getResultTypes() &&
         a.getOperandTypes() == b.getOperandTypes();
}

/// Returns the first op of two different regions that differs; null if only
/// constant values or the number of ops differ.
static Operation *findDifference(Region &own, Region &other) {
  for (auto [block, otherBlock] : llvm::zip(own, other))
    for (auto [op, otherOp] : llvm::zip(block, otherBlock)) {
      if (!areAlike(op, otherOp))
        return &op;
      for (auto [inner, otherInner] :
           llvm::zip(op.getRegions(), otherOp.getRegions()))
        if (!areEqual(inner, otherInner)) {
          Operation *found = findDifference(inner, otherInner);
          return found ? found : &op;
        }
    }
  return nullptr;
}

/// The manifest without the entries that depend on the number of replicas.
static json::Value getManifest(ModuleOp module) {
  auto text = module->getAttrOfType<StringAttr>(manifestAttrName);
  json::Value manifest = llvm::cantFail(json::parse(text.getValue()));
  json::Object &object = *manifest.getAsObject();
  object.erase("mesh");
  object.erase("model_flops");
  for (json::Value &input : *object.getArray("inputs"))
    input.getAsObject()->erase("shape");
  return manifest;
}

LogicalResult dtc::proveReplicas(ModuleOp lowered, ModuleOp more) {
  std::string error;
  {
    ScopedDiagnosticHandler handler(
        lowered.getContext(), [&](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
              error.empty())
            error = diagnostic.str();
          return success();
        });
    for (CompilePhase phase : loweringPhases)
      if (failed(runPhase(phase, more))) {
        return emitError(lowered.getLoc())
               << "--dp auto: there is a plan for two replicas, but not for "
                  "three: "
               << error;
      }
  }
  if (areEqual(lowered.getBodyRegion(), more.getBodyRegion()) &&
      getManifest(lowered) == getManifest(more))
    return success();
  Operation *found =
      findDifference(lowered.getBodyRegion(), more.getBodyRegion());
  return emitError(found ? found->getLoc() : lowered.getLoc())
         << "--dp auto: what a rank computes depends on how many replicas "
            "there are, as it may where the model mixes samples or its loss is "
            "linear in the last layer; use --dp with a number";
}
