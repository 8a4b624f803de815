//===- Reserve.cpp - GPU memory outside the arena -------------------------===//
//
// Estimates the memory that the runtime will allocate for a plan
// (CudaDevice.cpp, CudaArena.cpp, Blas.cpp, Dnn.cpp, NcclCollectives.cpp).
//
//===----------------------------------------------------------------------===//

#include "dtc/Memory/MemoryPlan.h"
#include "dtc/Plan/Ranks.h"
#include "dtc/Runtime/DeviceReserve.h"
#include "dtc/Target/CUDA/CudaTarget.h"

using namespace mlir;
using namespace dtc;

/// Bytes of constants that plans use, of which every rank has a copy. Constants
/// that only kernels use are part of their code.
static int64_t getConstantBytes(ModuleOp module) {
  int64_t bytes = 0;
  for (ModuleOp stage : module.getOps<ModuleOp>())
    if (stage.getName() != kernelsName)
      stage.walk([&](ConstantOp constant) {
        bytes += getLocalBytes(constant.getType());
      });
  return bytes;
}

/// One communicator for all ranks, and one for each set of axes that ranks
/// communicate over or slice tensors by.
static int64_t countCommunicators(ModuleOp module, MeshAttr mesh) {
  llvm::SmallPtrSet<Attribute, 8> groups;
  module.walk([&](Operation *op) {
    ArrayAttr axes;
    if (auto collective = dyn_cast<CollectiveOpInterface>(op))
      axes = collective.getAxes();
    else if (auto slice = dyn_cast<LocalSliceOp>(op))
      axes = slice.getAxes();
    int64_t members = 1;
    if (axes)
      for (StringRef axis : axes.getAsValueRange<StringAttr>())
        members *= mesh.getSize(axis);
    if (members > 1)
      groups.insert(axes);
  });
  return 1 + groups.size();
}

/// Bytes of input rows, which are copied to the GPU during the step before.
static int64_t getInputBytes(func::FuncOp plan) {
  int64_t bytes = 0;
  for (BlockArgument argument : plan.getArguments()) {
    auto kind =
        plan.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attr::kind);
    if (kind && (kind == "input" || kind == "label"))
      bytes += getLocalBytes(argument.getType());
  }
  return bytes;
}

static bool usesNetworkLibrary(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isa<Conv2DOp, Conv2DInputGradOp, Conv2DFilterGradOp, AttentionOp,
                   AttentionGradOp, PackedAttentionOp, PackedAttentionGradOp>(
                   op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Adds the context and code, workspaces, constants, input rows and the buffers
/// of NCCL.
int64_t CudaTarget::getReservedBytes(ModuleOp module) const {
  int64_t bytes = contextBytes + productWorkspaceBytes + productOnes * 2 +
                  getConstantBytes(module);
  if (usesNetworkLibrary(module))
    bytes += workspace;
  FailureOr<Stages> stages = getStages(module);
  MeshAttr mesh;
  int64_t inputs = 0;
  for (ModuleOp stage : *stages) {
    func::FuncOp plan = getPlan(stage);
    inputs = std::max(inputs, getInputBytes(plan));
    if (MeshAttr own = getMesh(plan))
      mesh = own;
  }
  bytes += inputs;
  if (mesh && Ranks(mesh).size() > 1)
    bytes +=
        stagingBytes + countCommunicators(module, mesh) * communicatorBytes;
  return bytes;
}
