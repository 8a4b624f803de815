//===- PlanProgram.cpp - the exported program object ----------------------===//
//
// Adds `dtc_program_v1` (include/dtc/Runtime/ABI.h) to a lowered module.
//
//===----------------------------------------------------------------------===//

#include "dtc/Dialect/Dialect.h"
#include "dtc/Dialect/FindFunction.h"
#include "dtc/Lowering/Program.h"
#include "dtc/Plan/Skeleton.h"
#include "dtc/Runtime/ABI.h"
#include "dtc/Support/Axes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dtc;
namespace json = llvm::json;

/// The value of `init` in the manifest.
static StringRef getInitName(Initializer::Kind kind) {
  switch (kind) {
  case Initializer::Weights:
    return "file";
  case Initializer::Zeros:
    return "zeros";
  case Initializer::Ones:
    return "ones";
  case Initializer::Normal:
    return "normal";
  }
  llvm_unreachable("unknown kind of initializer");
}

/// The first ONNX node of a location, and the number of other nodes.
static std::string getNodes(Location location) {
  llvm::SetVector<StringRef> names;
  location->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part))
      names.insert(name.getName());
    return WalkResult::advance();
  });
  if (names.empty())
    return {};
  std::string text = names.front().str();
  if (names.size() > 1)
    text += " +" + std::to_string(names.size() - 1);
  return text;
}

/// Adds ONNX nodes to the manifest's ops. Printed IR has no locations, so
/// LowerPlan does not write nodes to `dtc.manifest`.
static void addNodes(ModuleOp module, json::Array &ops) {
  module.walk([&](LLVM::CallOp call) {
    if (call.getCallee() != "dtcrt_op_begin")
      return;
    auto index = call.getOperand(1).getDefiningOp<LLVM::ConstantOp>();
    std::string nodes = getNodes(call.getLoc());
    if (!nodes.empty())
      (*ops[cast<IntegerAttr>(index.getValue()).getInt()]
            .getAsObject())["node"] = std::move(nodes);
  });
}

static FailureOr<json::Value> parseManifest(ModuleOp module) {
  auto text = module->getAttrOfType<StringAttr>(manifestAttrName);
  if (!text)
    return module.emitError("has no ") << manifestAttrName;
  llvm::Expected<json::Value> parsed = json::parse(text.getValue());
  if (!parsed)
    return module.emitError("bad ")
           << manifestAttrName << ": " << llvm::toString(parsed.takeError());
  return *parsed;
}

FailureOr<SmallVector<std::string>> dtc::listPrograms(ModuleOp module) {
  FailureOr<json::Value> manifest = parseManifest(module);
  if (failed(manifest))
    return failure();
  SmallVector<std::string> names;
  const json::Object *object = manifest->getAsObject();
  const json::Array *programs = object ? object->getArray("programs") : nullptr;
  if (!programs)
    return names;
  for (const json::Value &program : *programs) {
    const json::Object *entry = program.getAsObject();
    auto name = entry ? entry->getString("name") : std::nullopt;
    if (!name)
      return module.emitError("has a program without a name in ")
             << manifestAttrName;
    names.push_back(name->str());
  }
  return names;
}

/// Adds the facts that only the caller knows to the manifest of the plans.
static FailureOr<std::string> completeManifest(ModuleOp module,
                                               const ProgramInfo &info) {
  FailureOr<json::Value> parsed = parseManifest(module);
  if (failed(parsed))
    return failure();
  json::Object &manifest = *parsed->getAsObject();
  manifest["model"] = info.model;
  manifest["dtype"] = info.dtype;
  manifest["loss"] = info.loss;
  manifest["global_batch"] = info.globalBatch;
  if (info.replicasAtLaunch)
    manifest["replica_axis"] = dataAxis;
  if (info.server)
    manifest["server"] =
        json::Object{{"ahead", info.server->ahead},
                     {"rate_by_staleness", info.server->rateByStaleness}};
  if (info.skipsNonFinite)
    manifest["skips_nonfinite"] = true;
  if (info.peakFlops > 0)
    manifest["peak_flops"] = info.peakFlops;
  if (json::Array *ops = manifest.getArray("ops"))
    addNodes(module, *ops);
  manifest["weights_file"] = info.weightsFile;
  manifest["optimizer"] = json::Object(info.optimizer);
  manifest["buffers"] = json::Array(info.buffers);
  for (json::Value &value : *manifest.getArray("parameters")) {
    json::Object &parameter = *value.getAsObject();
    StringRef name = *parameter.getObject("tensor")->getString("name");
    auto init = info.initializers.find(name);
    if (init == info.initializers.end())
      return module.emitError("parameter '")
             << name << "' has no initializer in the program's info";
    const Initializer &initializer = init->second;
    parameter["init"] = getInitName(initializer.kind);
    if (initializer.kind == Initializer::Normal)
      parameter["init_scale"] = initializer.deviation;
    if (auto aliases = info.aliases.find(name); aliases != info.aliases.end())
      parameter["aliases"] = json::Array(aliases->second);
  }
  std::string result;
  llvm::raw_string_ostream(result) << *parsed;
  return result;
}

/// The number of stages of the training step.
static int64_t countStages(ModuleOp module) {
  int64_t stages = 0;
  while (module.lookupSymbol(getStageName(stages, "") + "_plan"))
    ++stages;
  return stages;
}

/// A table of the plans of all stages of each program, "" for the step. Fails
/// if a program has other stages than the step.
static FailureOr<LLVM::GlobalOp>
addPlanTable(ModuleOp module, ArrayRef<StringRef> programs, StringRef name) {
  Location loc = module.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<LLVM::LLVMFuncOp> plans;
  for (StringRef program : programs)
    for (int64_t stage : llvm::seq(countStages(module))) {
      auto plan = module.lookupSymbol<LLVM::LLVMFuncOp>(
          getStageName(stage, program) + "_plan");
      if (!plan)
        return module.emitError("has no plan of program '")
               << program << "' for stage " << stage;
      plans.push_back(plan);
    }
  auto type = LLVM::LLVMArrayType::get(
      LLVM::LLVMPointerType::get(module.getContext()), plans.size());
  auto table =
      LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, name, Attribute());
  builder.createBlock(&table.getInitializerRegion());
  Value value = LLVM::PoisonOp::create(builder, loc, type);
  for (auto [i, plan] : llvm::enumerate(plans))
    value = LLVM::InsertValueOp::create(
        builder, loc, value, LLVM::AddressOfOp::create(builder, loc, plan),
        ArrayRef<int64_t>{static_cast<int64_t>(i)});
  LLVM::ReturnOp::create(builder, loc, value);
  return table;
}

LogicalResult dtc::addProgramObject(ModuleOp module, const ProgramInfo &info) {
  FailureOr<std::string> manifest = completeManifest(module, info);
  if (failed(manifest))
    return failure();
  FailureOr<SmallVector<std::string>> names = listPrograms(module);
  if (failed(names))
    return failure();
  module->removeAttr(manifestAttrName);

  MLIRContext *context = module.getContext();
  Location loc = module.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto ptr = LLVM::LLVMPointerType::get(context);
  Type i8 = builder.getI8Type(), i32 = builder.getI32Type(),
       i64 = builder.getI64Type();

  auto text = LLVM::GlobalOp::create(
      builder, loc, LLVM::LLVMArrayType::get(i8, manifest->size()),
      /*isConstant=*/true, LLVM::Linkage::Internal, "dtc_manifest",
      builder.getStringAttr(*manifest));

  FailureOr<LLVM::GlobalOp> steps = addPlanTable(module, {""}, "dtc_steps");
  FailureOr<LLVM::GlobalOp> evals =
      addPlanTable(module, {evalName}, "dtc_evals");
  FailureOr<LLVM::GlobalOp> others =
      addPlanTable(module, SmallVector<StringRef>(names->begin(), names->end()),
                   "dtc_programs");
  if (failed(steps) || failed(evals) || failed(others))
    return failure();

  auto programType = LLVM::LLVMStructType::getLiteral(
      context, {i32, i32, ptr, ptr, ptr, ptr, i64});
  auto program = LLVM::GlobalOp::create(builder, loc, programType, true,
                                        LLVM::Linkage::External,
                                        "dtc_program_v1", Attribute());
  builder.createBlock(&program.getInitializerRegion());
  auto integer = [&](Type type, uint64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, type,
                                    builder.getIntegerAttr(type, value));
  };
  auto address = [&](StringRef name) -> Value {
    return LLVM::AddressOfOp::create(builder, loc, ptr, name);
  };
  Value fields[] = {
      integer(i32, DTC_ABI_VERSION), integer(i32, countStages(module)),
      address(steps->getSymName()),  address(evals->getSymName()),
      address(others->getSymName()), address(text.getSymName()),
      integer(i64, manifest->size())};
  Value value = LLVM::PoisonOp::create(builder, loc, programType);
  for (auto [i, field] : llvm::enumerate(fields))
    value = LLVM::InsertValueOp::create(
        builder, loc, value, field, ArrayRef<int64_t>{static_cast<int64_t>(i)});
  LLVM::ReturnOp::create(builder, loc, value);
  return success();
}
