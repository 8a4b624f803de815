//===- LowerKernelsToGpu.cpp - lowering of kernels to launches ------------===//
//
// Creates the device functions of a kernel, one for each nest, and the list of
// their launches.
//
//===----------------------------------------------------------------------===//

#include "NestEmit.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Lowering/RowLoops/Combine.h"
#include "dtc/Lowering/RowLoops/Verify.h"
#include "dtc/Lowering/Target.h"
#include "dtc/Plan/KernelOps.h"
#include "dtc/Target/CUDA/Alignments.h"
#include "dtc/Target/CUDA/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"

namespace dtc {
#define GEN_PASS_DEF_LOWERKERNELSTOGPU
#include "dtc/Target/CUDA/Passes.h.inc"
} // namespace dtc

using namespace mlir;
using namespace dtc;

namespace {

class KernelLowering {
public:
  KernelLowering(func::FuncOp kernel, gpu::GPUModuleOp device)
      : kernel(kernel), device(device), loc(kernel.getLoc()) {}

  LogicalResult run();

private:
  using Emit =
      function_ref<void(OpBuilder &, gpu::GPUFuncOp, KernelArguments &)>;
  void planScratch();
  void align(KernelArguments &arguments);
  void addFunction(int64_t blocks, int64_t threads, Emit emit);
  Value getStored(OpBuilder &b, KernelArguments &arguments,
                  Statement &statement) const;
  void lowerNest(unsigned nest);
  void lowerScatter(unsigned nest);
  void addParts(unsigned nest);

  func::FuncOp kernel, launcher;
  gpu::GPUModuleOp device;
  Location loc;
  std::optional<RowLoopsPlan> plan;
  std::vector<NestSchedule> schedules;
  ScratchLayout layout;
  /// Scratch offsets of results that only the kernel sees, and of parts of
  /// sums.
  llvm::MapVector<Statement *, int64_t> stored;
  DenseMap<Statement *, int64_t> parts;
  DenseMap<unsigned, ScatterLaunches> scatters; ///< by their nests
  std::optional<KernelArguments> own;           ///< of the launcher
  unsigned numFunctions = 0;
};

} // namespace

static bool isAccumulation(Statement *s) {
  return s->kind == StatementKind::Accumulation;
}

/// Parts are stored in the type of the sum.
static Type getPartType(Statement &s) {
  return getMemoryType(getWrittenType(s));
}

void KernelLowering::planScratch() {
  plan->forEachStored([&](Statement &s) {
    if (!s.result || own->buffers.tensors.count(s.result))
      return;
    RankedTensorType type = getWrittenType(s);
    if (!stored.count(&s))
      stored[&s] = layout.add(getMemoryType(type), type.getNumElements());
  });
  for (auto [nest, schedule] : llvm::zip(plan->getNests(), schedules))
    for (Statement *s : nest.roots)
      if (isAccumulation(s) && schedule.slices > 1)
        parts[s] =
            layout.add(getPartType(*s),
                       getWrittenType(*s).getNumElements() * schedule.slices);
  for (unsigned nest = 0; nest < schedules.size(); ++nest)
    if (schedules[nest].mapping == ThreadMapping::Scatter)
      scatters[nest] = planScatter(*plan, nest, layout);
}

/// Marks the alignments that the memory plan guarantees.
void KernelLowering::align(KernelArguments &arguments) {
  auto note = [&](Value memref, IntegerAttr bytes) {
    if (bytes)
      arguments.buffers.alignments[memref] = bytes.getInt();
  };
  for (BlockArgument argument : kernel.getArguments())
    note(arguments.buffers.tensors.lookup(argument),
         kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                              attr::alignment));
  for (auto [i, memref] : llvm::enumerate(arguments.results))
    note(memref, kernel.getResultAttrOfType<IntegerAttr>(i, attr::alignment));
}

/// The buffer in scratch of a tensor that only this kernel uses.
Value KernelLowering::getStored(OpBuilder &b, KernelArguments &arguments,
                                Statement &statement) const {
  RankedTensorType type = getWrittenType(statement);
  Value memref =
      arguments.viewScratch(b, loc, getMemoryType(type), type.getNumElements(),
                            stored.lookup(&statement));
  arguments.buffers.alignments[memref] = 64;
  return memref;
}

/// Adds a device function and its launch.
void KernelLowering::addFunction(int64_t blocks, int64_t threads, Emit emit) {
  OpBuilder b = OpBuilder::atBlockEnd(device.getBody());
  std::string name = (kernel.getName() + "_" + Twine(numFunctions++)).str();
  auto function =
      gpu::GPUFuncOp::create(b, loc, name, b.getFunctionType({}, {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  function.setKnownBlockSizeAttr(
      b.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  Block &entry = function.front();
  KernelArguments arguments(kernel, entry);
  arguments.scratch.setType(
      MemRefType::get(std::max<int64_t>(layout.getBytes(), 1), b.getI8Type()));
  // Shared memory follows the arguments in the entry block, but is not part of
  // the signature.
  function.setFunctionType(b.getFunctionType(entry.getArgumentTypes(), {}));
  b.setInsertionPointToStart(&entry);
  b.setInsertionPoint(gpu::ReturnOp::create(b, loc));
  align(arguments);
  arguments.assignResults(*plan);
  arguments.addConstants(b, kernel);
  for (auto &[statement, offset] : stored)
    arguments.buffers.tensors[statement->result] =
        getStored(b, arguments, *statement);
  emit(b, function, arguments);

  // The launch passes the arguments that the function uses.
  auto isUnused = [](Operation *op) {
    return isa<memref::ViewOp, memref::GetGlobalOp, arith::ConstantOp>(op) &&
           op->use_empty();
  };
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry)))
    if (isUnused(&op))
      op.erase();
  SmallVector<Value> passed;
  llvm::BitVector unused(entry.getNumArguments());
  unsigned numOwn = launcher.getNumArguments();
  for (unsigned i = 0; i < numOwn; ++i) {
    if (entry.getArgument(i).use_empty())
      unused.set(i);
    else
      passed.push_back(launcher.getArgument(i));
  }
  entry.eraseArguments(unused);
  function.setFunctionType(
      b.getFunctionType(ValueRange(passed).getTypes(), {}));

  b.setInsertionPoint(launcher.front().getTerminator());
  auto size = [&](int64_t count) -> Value {
    return arith::ConstantIndexOp::create(b, loc, count);
  };
  gpu::KernelDim3 grid{size(blocks), size(1), size(1)};
  gpu::KernelDim3 block{size(threads), size(1), size(1)};
  gpu::LaunchFuncOp::create(b, loc, function, grid, block,
                            /*dynamicSharedMemorySize=*/Value(), passed);
}

void KernelLowering::lowerNest(unsigned index) {
  const Nest &nest = plan->getNests()[index];
  const NestSchedule &schedule = schedules[index];
  addFunction(
      schedule.blocks, schedule.threads,
      [&](OpBuilder &b, gpu::GPUFuncOp function, KernelArguments &arguments) {
        if (schedule.mapping == ThreadMapping::Tiles)
          return emitTiles(b, function, *plan, index, schedule,
                           arguments.buffers);
        SumBuffers sums;
        for (Statement *s : nest.roots) {
          if (!isAccumulation(s))
            continue;
          Value &memref = sums[s];
          memref = arguments.buffers.tensors.lookup(s->result);
          if (schedule.slices > 1) {
            memref = arguments.viewScratch(b, loc, getPartType(*s),
                                           getWrittenType(*s).getNumElements() *
                                               schedule.slices,
                                           parts.lookup(s));
            arguments.buffers.alignments[memref] = 64;
          }
        }
        emitNest(b, function, *plan, index, schedule, arguments.buffers, sums);
      });
}

void KernelLowering::lowerScatter(unsigned index) {
  const ScatterLaunches &scatter = scatters[index];
  if (scatter.needsZeros) {
    // Rows of the table that get no update are zero.
    Statement &s = *plan->getNests()[index].roots[0];
    OpBuilder b(launcher.front().getTerminator());
    Value table = own->buffers.tensors.lookup(s.result);
    if (!table)
      table = getStored(b, *own, s);
    Type type = cast<MemRefType>(table.getType()).getElementType();
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
    gpu::MemsetOp::create(b, loc, Type(), ValueRange(), table, zero);
  }
  for (const DeviceLaunch &launch : scatter.launches)
    addFunction(launch.blocks, launch.threads, launch.emit);
}

/// Adds a launch for each sum over rows that is computed in parts.
void KernelLowering::addParts(unsigned index) {
  const NestSchedule &schedule = schedules[index];
  for (Statement *s : plan->getNests()[index].roots) {
    if (!isAccumulation(s) || schedule.slices == 1)
      continue;
    int64_t elements = getWrittenType(*s).getNumElements();
    SumLaunch launch = getSumLaunch(elements);
    addFunction(
        launch.blocks, launch.threads,
        [&](OpBuilder &b, gpu::GPUFuncOp function, KernelArguments &arguments) {
          Value memref = arguments.viewScratch(b, loc, getPartType(*s),
                                               elements * schedule.slices,
                                               parts.lookup(s));
          emitSumOfParts(b, function, s->combiner, memref, schedule.slices,
                         arguments.buffers.tensors.lookup(s->result));
        });
  }
}

LogicalResult KernelLowering::run() {
  FailureOr<RowLoopsPlan> created =
      RowLoopsPlan::create(kernel, mayJoinOnDevice);
  if (failed(created) || failed(verifyUpdates(kernel, *created)))
    return failure();
  plan.emplace(std::move(*created));
  for (const Nest &nest : plan->getNests())
    schedules.push_back(scheduleNest(*plan, nest));

  OpBuilder b(kernel);
  launcher =
      func::FuncOp::create(b, loc, kernel.getName(), b.getFunctionType({}, {}));
  launcher.setVisibility(kernel.getVisibility());
  for (NamedAttribute attribute : kernel->getDiscardableAttrs())
    launcher->setAttr(attribute.getName(), attribute.getValue());
  Block &entry = *launcher.addEntryBlock();
  own.emplace(kernel, entry);
  own->assignResults(*plan);
  planScratch();
  own->scratch.setType(
      MemRefType::get(std::max<int64_t>(layout.getBytes(), 1), b.getI8Type()));
  launcher.setFunctionType(b.getFunctionType(entry.getArgumentTypes(), {}));
  b.setInsertionPointToStart(&entry);
  func::ReturnOp::create(b, loc);

  for (unsigned nest = 0; nest < plan->getNests().size(); ++nest) {
    if (schedules[nest].mapping == ThreadMapping::Scatter) {
      lowerScatter(nest);
      continue;
    }
    lowerNest(nest);
    addParts(nest);
  }

  if (layout.getBytes() > 0)
    launcher->setAttr(scratchAttrName, b.getI64IntegerAttr(layout.getBytes()));
  else
    entry.eraseArgument(own->scratch.getArgNumber());
  launcher.setFunctionType(b.getFunctionType(entry.getArgumentTypes(), {}));
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (DictionaryAttr attributes = kernel.getArgAttrDict(i))
      launcher.setArgAttrs(i, attributes);
  kernel.erase();
  return success();
}

namespace {

struct LowerKernelsToGpu : dtc::impl::LowerKernelsToGpuBase<LowerKernelsToGpu> {
  using LowerKernelsToGpuBase::LowerKernelsToGpuBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    getOperation().walk([&](func::FuncOp function) {
      if (function->hasAttr(attr::kernel) &&
          llvm::any_of(function.getResultTypes(),
                       llvm::IsaPred<RankedTensorType>))
        kernels.push_back(function);
    });
    llvm::DenseMap<Operation *, gpu::GPUModuleOp> devices;
    for (func::FuncOp kernel : kernels) {
      Operation *module = kernel->getParentOp();
      gpu::GPUModuleOp &device = devices[module];
      if (!device) {
        OpBuilder b = OpBuilder::atBlockBegin(&module->getRegion(0).front());
        module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                        b.getUnitAttr());
        device = gpu::GPUModuleOp::create(b, kernel.getLoc(), "device");
      }
      if (failed(KernelLowering(kernel, device).run()))
        return signalPassFailure();
    }
  }
};

} // namespace
