//===- EmitObject.cpp - object files with device code ---------------------===//
//
// Adds `dtc_device_v1` (include/dtc/Runtime/DeviceABI.h) to the host's code.
//
//===----------------------------------------------------------------------===//

#include "EmitPtx.h"
#include "dtc/Runtime/DeviceABI.h"
#include "dtc/Support/OutputFile.h"
#include "dtc/Target/CUDA/CudaTarget.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dtc;

namespace {

/// Adds constants to the host's module.
class DeviceProgram {
public:
  DeviceProgram(ModuleOp module)
      : module(module), loc(module.getLoc()),
        b(OpBuilder::atBlockEnd(module.getBody())),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  struct Function {
    std::string name;
    size_t arguments = 0;
    // For emulation only.
    int64_t sharedBytes = 0;
    bool meets = false;
    std::string emulated{};
    ArrayRef<int64_t> places{};
  };

  void addFunction(Function function) {
    functions.push_back(std::move(function));
  }
  void addConstants();
  void finish(StringRef architecture, int64_t workspace, StringRef ptx,
              StringRef cubin);

private:
  /// Adds a global whose value the callback builds.
  LLVM::GlobalOp addGlobal(StringRef name, Type type, bool isExported,
                           function_ref<Value()> build);
  Value text(StringRef name, StringRef bytes, bool isTerminated);
  /// The address of an array of dtc_device_places.
  Value placesOf(StringRef name, ArrayRef<int64_t> bytes);
  Value structOf(ArrayRef<Value> fields);
  Value integer(int64_t value, unsigned bits) {
    return LLVM::ConstantOp::create(b, loc, b.getIntegerType(bits), value);
  }
  Value addressOf(StringRef name) {
    return LLVM::AddressOfOp::create(b, loc, pointer, name);
  }
  Value null() { return LLVM::ZeroOp::create(b, loc, pointer); }

  ModuleOp module;
  Location loc;
  OpBuilder b;
  Type pointer;
  std::vector<Function> functions;
  std::vector<std::pair<std::string, int64_t>> constants;
};

} // namespace

void DeviceProgram::addConstants() {
  for (auto global : module.getOps<LLVM::GlobalOp>()) {
    if (!global->hasAttr(constantAttrName))
      continue;
    auto data = cast<DenseElementsAttr>(global.getValueAttr());
    int64_t bytes =
        data.getNumElements() *
        llvm::divideCeil(data.getElementType().getIntOrFloatBitWidth(), 8);
    constants.push_back({global.getSymName().str(), bytes});
  }
}

LLVM::GlobalOp DeviceProgram::addGlobal(StringRef name, Type type,
                                        bool isExported,
                                        function_ref<Value()> build) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(module.getBody());
  auto global = LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true,
                                       isExported ? LLVM::Linkage::External
                                                  : LLVM::Linkage::Internal,
                                       name, Attribute());
  b.createBlock(&global.getInitializerRegion());
  LLVM::ReturnOp::create(b, loc, build());
  return global;
}

/// The address of constant bytes in the program.
Value DeviceProgram::text(StringRef name, StringRef bytes, bool isTerminated) {
  std::string value = bytes.str();
  if (isTerminated)
    value.push_back('\0');
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(module.getBody());
    LLVM::GlobalOp::create(
        b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), value.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, name,
        b.getStringAttr(value), /*alignment=*/16);
  }
  return addressOf(name);
}

Value DeviceProgram::placesOf(StringRef name, ArrayRef<int64_t> bytes) {
  SmallVector<int64_t> words;
  for (int64_t size : bytes)
    words.append({std::abs(size), size < 0});
  OpBuilder end = OpBuilder::atBlockEnd(module.getBody());
  auto type = RankedTensorType::get({static_cast<int64_t>(words.size())},
                                    b.getI64Type());
  LLVM::GlobalOp::create(end, loc,
                         LLVM::LLVMArrayType::get(b.getI64Type(), words.size()),
                         /*isConstant=*/true, LLVM::Linkage::Internal, name,
                         DenseElementsAttr::get(type, ArrayRef(words)));
  return addressOf(name);
}

Value DeviceProgram::structOf(ArrayRef<Value> fields) {
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), llvm::to_vector(ValueRange(fields).getTypes()));
  Value value = LLVM::PoisonOp::create(b, loc, type);
  for (auto [i, field] : llvm::enumerate(fields))
    value = LLVM::InsertValueOp::create(
        b, loc, value, field, ArrayRef<int64_t>{static_cast<int64_t>(i)});
  return value;
}

/// A struct with the types of dtc_device_function or dtc_device_constant.
static Type getRowType(ArrayRef<Type> fields) {
  return LLVM::LLVMStructType::getLiteral(fields[0].getContext(), fields);
}

void DeviceProgram::finish(StringRef architecture, int64_t workspace,
                           StringRef ptx, StringRef cubin) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  addGlobal("dtc_device_functions",
            LLVM::LLVMArrayType::get(
                getRowType({pointer, i32, i32, i32, pointer, pointer}),
                functions.size()),
            /*isExported=*/false, [&]() -> Value {
              auto type = LLVM::LLVMArrayType::get(
                  getRowType({pointer, i32, i32, i32, pointer, pointer}),
                  functions.size());
              Value table = LLVM::PoisonOp::create(b, loc, type);
              for (auto [i, f] : llvm::enumerate(functions)) {
                Value row = structOf(
                    {text("dtc_device_name" + std::to_string(i), f.name, true),
                     integer(f.arguments, 32), integer(f.sharedBytes, 32),
                     integer(f.meets, 32),
                     f.emulated.empty() ? null() : addressOf(f.emulated),
                     f.emulated.empty()
                         ? null()
                         : placesOf("dtc_device_places" + std::to_string(i),
                                    f.places)});
                table = LLVM::InsertValueOp::create(
                    b, loc, table, row,
                    ArrayRef<int64_t>{static_cast<int64_t>(i)});
              }
              return table;
            });
  addGlobal(
      "dtc_device_constants",
      LLVM::LLVMArrayType::get(getRowType({pointer, i64}), constants.size()),
      /*isExported=*/false, [&]() -> Value {
        auto type = LLVM::LLVMArrayType::get(getRowType({pointer, i64}),
                                             constants.size());
        Value table = LLVM::PoisonOp::create(b, loc, type);
        for (auto [i, constant] : llvm::enumerate(constants))
          table = LLVM::InsertValueOp::create(
              b, loc, table,
              structOf(
                  {addressOf(constant.first), integer(constant.second, 64)}),
              ArrayRef<int64_t>{static_cast<int64_t>(i)});
        return table;
      });
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(),
      {i32, i32, pointer, i64, pointer, pointer, pointer, pointer, i64, i64});
  addGlobal("dtc_device_v1", type, /*isExported=*/true, [&] {
    return structOf(
        {integer(DTC_DEVICE_ABI_VERSION, 32), integer(functions.size(), 32),
         addressOf("dtc_device_functions"), integer(constants.size(), 64),
         addressOf("dtc_device_constants"),
         text("dtc_device_architecture", architecture, true),
         ptx.empty() ? null() : text("dtc_device_ptx", ptx, true),
         cubin.empty() ? null() : text("dtc_device_cubin", cubin, false),
         integer(cubin.size(), 64), integer(workspace, 64)});
  });
}

/// Writes PTX to the folder of --dump-dir.
static LogicalResult dump(Location loc, StringRef ptx, StringRef folder) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, "07-device.ptx");
  if (llvm::Error error =
          writeOutput(path, [&](llvm::raw_ostream &os) { os << ptx; }))
    return emitError(loc) << llvm::toString(std::move(error));
  return success();
}

LogicalResult CudaTarget::emitObjects(ModuleOp module,
                                      ArrayRef<std::string> paths,
                                      StringRef dumpDir) const {
  DeviceProgram program(module);
  program.addConstants();
  std::string ptx, cubin;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (auto bytes =
            function->getAttrOfType<IntegerAttr>(sharedBytesAttrName)) {
      ArrayRef<int64_t> places =
          function->getAttrOfType<DenseI64ArrayAttr>(placesAttrName)
              .asArrayRef();
      program.addFunction(
          {function.getSymName().drop_front(emulatedPrefix.size()).str(),
           places.size(), bytes.getInt(), function->hasAttr(meetsAttrName),
           function.getSymName().str(), places});
    }
  for (auto device : llvm::to_vector(module.getOps<gpu::GPUModuleOp>())) {
    const CudaArchitecture &known = *CudaArchitecture::find(architecture);
    FailureOr<std::string> text = emitPtx(device, known);
    if (failed(text))
      return failure();
    ptx = std::move(*text);
    if (!dumpDir.empty() && failed(dump(device.getLoc(), ptx, dumpDir)))
      return failure();
    if (!ptxas.empty()) {
      FailureOr<std::string> code =
          assemblePtx(device.getLoc(), ptx, ptxas, known, nullptr);
      if (failed(code))
        return failure();
      cubin = std::move(*code);
    }
    for (auto function : device.getOps<LLVM::LLVMFuncOp>())
      if (!function.isExternal())
        program.addFunction(
            {function.getSymName().str(), function.getNumArguments()});
    device.erase();
  }
  program.finish(architecture, workspace, ptx, cubin);
  module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  return emitHostObjects(module, host, paths);
}
