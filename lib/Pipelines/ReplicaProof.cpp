//===- ReplicaProof.cpp - code that is one for any number of replicas -----===//
//
// What is compiled for two replicas runs on any number of them if the code of a
// rank does not depend on how many there are: it is made for three as well, and
// both are compared (docs/Architecture/Parallel.md).
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

/// Whether ops are of one kind, whatever values they have.
static bool areAlike(Operation &a, Operation &b) {
  return a.getName() == b.getName() &&
         a.getAttrDictionary() == b.getAttrDictionary() &&
         a.getResultTypes() == b.getResultTypes() &&
         a.getOperandTypes() == b.getOperandTypes();
}

/// An op of two regions that are not equal, from where on they differ; null if
/// only values do, or how many there are.
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

/// The manifest without what says how many replicas there are.
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
