//===- Import.cpp - reads an ONNX file into dtc ops -----------------------===//
//
// `run` lists all steps in order, and names the folder of each.
//
//===----------------------------------------------------------------------===//

#include "dtc/Frontend/Import.h"

#include "Exporters/Exporters.h"
#include "Exporters/LostTraining.h"
#include "File/InlineNodes.h"
#include "Nodes/NodeImporter.h"
#include "Parameters/ParameterInputs.h"
#include "Parameters/Parameters.h"
#include "Shapes/InputShapes.h"
#include "Support/NameList.h"
#include "Support/TensorData.h"

#include "mlir/IR/Verifier.h"

#include <set>

using namespace llvm;
using mlir::Value;

namespace dtc::frontend {

namespace {
class Importer {
public:
  Importer(mlir::MLIRContext &context, const ImportOptions &options,
           ImportReport &report)
      : context(context), options(options), report(report),
        floatType(options.f64 ? DType::F64 : DType::F32),
        function(context, report),
        randomness(context, options,
                   [this](StringRef kind, mlir::Type type) {
                     return function.addInput(kind, type);
                   }),
        nodes(function, operators, randomness, floatType, live, report) {}

  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  void fail(Error error);
  DType widen(DType dtype) const {
    return dtype == DType::F32 ? floatType : dtype;
  }

  Error load();
  void readInitializers();
  void noteTypes();
  void bindInputs();
  void bindConstants();
  void bindConstant(StringRef name, const TensorData &data);
  void bindParameters();
  void importNodes();
  void checkOutputs();
  void noteDeclaredRanks();
  mlir::OwningOpRef<mlir::ModuleOp> finish();

  mlir::MLIRContext &context;
  const ImportOptions &options;
  ImportReport &report;
  DType floatType;
  std::set<std::pair<std::string, std::string>> reported;

  Model model;
  std::optional<TensorReader> reader;
  StringMap<TensorData> initializers;
  StringMap<Shape> inputShapes;
  Parameters parameters;
  /// Values that an output depends on.
  StringSet<> live;

  OperatorTable operators;
  ForwardFunction function;
  Randomness randomness;
  NodeImporter nodes;
};
} // namespace

/// Reports an error once. Several initializers of one missing file are one
/// error.
void Importer::fail(Error error) {
  Problem problem = takeProblem(std::move(error));
  if (reported.insert({problem.reason, problem.advice}).second)
    report.issues.push_back({"", "", problem.reason, problem.advice});
}

Error Importer::load() {
  Expected<ModelFile> file = readModelFile(options.path);
  if (!file)
    return file.takeError();
  Expected<Model> restored = restoreModel(std::move(*file), options.output);
  if (!restored)
    return restored.takeError();
  model = std::move(*restored);
  return Error::success();
}

void Importer::readInitializers() {
  reader.emplace(model.path);
  for (const auto &tensor : model.graph().initializer()) {
    bool isLive = live.contains(tensor.name());
    if (!isLive && !model.record.find(tensor.name()))
      continue;
    Expected<TensorData> data = reader->read(tensor);
    if (!isLive && !data) {
      report.warnings.push_back(
          "dtc does not save '" + tensor.name() +
          "' with the weights, because the model does not use it and it "
          "cannot be read: " +
          takeProblem(data.takeError()).reason);
    } else if (data) {
      data->transposed = model.restored.transposed.contains(tensor.name());
      initializers.try_emplace(tensor.name(), std::move(*data));
    } else {
      fail(data.takeError());
    }
  }
}

/// Reports tensors that the file stores with 16 bits.
void Importer::noteTypes() {
  int64_t count = llvm::count_if(model.graph().initializer(),
                                 [](const onnx::TensorProto &tensor) {
                                   return isFloat16(tensor.data_type());
                                 });
  if (count > 0)
    report.notes.push_back(
        "the file stores " + std::to_string(count) +
        " tensors with 16 bits; dtc reads them as f32 and computes with f32; "
        "--precision chooses the precision of the training");
}

void Importer::bindInputs() {
  for (const auto &input : inputShapes)
    function.inputNames.insert(input.first());
  for (const auto &input : model.graph().input()) {
    auto shape = inputShapes.find(input.name());
    if (shape == inputShapes.end() || parameters.uses.contains(input.name()))
      continue;
    int type = input.type().tensor_type().elem_type();
    std::optional<DType> dtype = toDType(type);
    if (!dtype) {
      fail(problem("input '" + input.name() + "' has element type " +
                       onnxTypeName(type),
                   supportedTypes));
      continue;
    }
    Binding binding;
    binding.dtype = widen(*dtype);
    binding.shape = shape->second;
    binding.value =
        function.addData(input.name(),
                         mlir::RankedTensorType::get(
                             binding.shape, toType(&context, binding.dtype)),
                         findBatchDim(input, options));
    nodes.bindings[input.name()] = binding;
  }
}

void Importer::bindConstants() {
  for (const auto &[name, data] : initializers) {
    if (parameters.uses.contains(name))
      continue;
    bindConstant(name, data);
  }
  for (const auto &[copy, source] : parameters.constantCopies)
    bindConstant(copy, initializers.find(source)->second);
}

void Importer::bindConstant(StringRef name, const TensorData &data) {
  if (!data.hasData)
    return fail(problem("initializer '" + name + "' has no data",
                        "only trained parameters may lack data; export with "
                        "export_params=True"));
  HostTensor tensor = toHostTensor(data);
  Binding binding;
  binding.dtype = widen(data.dtype);
  binding.shape = data.shape;
  binding.constant = std::make_shared<HostTensor>(
      binding.dtype == data.dtype ? std::move(tensor)
                                  : tensor.cast(binding.dtype));
  nodes.bindings[name] = std::move(binding);
}

void Importer::bindParameters() {
  nodes.parameters = parameters.table.parameters;
  for (const auto &[name, use] : parameters.uses) {
    const Parameter &parameter = parameters.table.parameters[use.index];
    Binding binding;
    binding.dtype =
        widen(parameter.dtype == ParameterType::F64 ? DType::F64 : DType::F32);
    binding.shape = use.shape;
    binding.parameter = use;
    nodes.bindings[name] = std::move(binding);
  }
}

void Importer::importNodes() {
  nodes.opset = model.opset;
  for (auto [index, node] : enumerate(model.graph().node()))
    if (any_of(node.output(), [&](const std::string &output) {
          return live.contains(output);
        }))
      nodes.import(node, index);
}

void Importer::checkOutputs() {
  for (const auto &output : model.graph().output())
    if (nodes.isSequence(output.name()))
      fail(problem("output '" + output.name() + "' is a sequence of tensors",
                   "export a model that returns the tensors themselves"));
    else if (auto it = nodes.bindings.find(output.name());
             it != nodes.bindings.end() && it->second.selection &&
             !it->second.selection->isCount)
      fail(problem("the number of elements of output '" + output.name() +
                       "' depends on a mask",
                   "export a model whose outputs have fixed shapes"));
}

/// Warns of values whose declared rank is wrong. An exporter that assumed
/// another rank may have dropped or changed later operators, so the file may be
/// another model.
void Importer::noteDeclaredRanks() {
  std::vector<std::string> others;
  for (const auto *values :
       {&model.graph().value_info(), &model.graph().output()})
    for (const onnx::ValueInfoProto &value : *values) {
      const auto &type = value.type().tensor_type();
      auto binding = nodes.bindings.find(value.name());
      if (type.has_shape() && binding != nodes.bindings.end() &&
          size_t(type.shape().dim_size()) != binding->second.shape.size())
        others.push_back(value.name());
    }
  if (!others.empty())
    report.warnings.push_back(
        "the file declares other ranks than its operators give: " +
        listFirstNames(others) +
        "; the exporter may have dropped or changed later operators, so "
        "compare "
        "the loss with the framework's");
}

mlir::OwningOpRef<mlir::ModuleOp> Importer::finish() {
  SmallVector<Value> results;
  SmallVector<StringRef> names;
  for (const auto &output : model.graph().output()) {
    results.push_back(nodes.materialize(nodes.bindings[output.name()]));
    names.push_back(output.name());
  }
  mlir::OwningOpRef<mlir::ModuleOp> module = function.finish(results, names);
  noteDeclaredRanks();
  report.parameters.owners = reader->owners();
  report.parameters.owners.push_back(model.proto);
  keepBuffers(model, initializers, parameters, report);
  return module;
}

mlir::OwningOpRef<mlir::ModuleOp> Importer::run() {
  // File/, Exporters/: restore the graph as its author wrote it.
  report.path = options.path;
  if (Error error = load()) {
    fail(std::move(error));
    return nullptr;
  }
  context.loadDialect<DTCDialect, mlir::func::FuncDialect>();
  function.create(options.path);
  live = findLive(model.graph());
  readInitializers();

  // Shapes/: resolve the shapes of inputs. All dimensions are known after this.
  inputShapes = resolveInputShapes(model.graph(), options, report.issues);
  checkParameterInputs(model, options, report.issues);

  // Parameters/: find the trained tensors.
  report.notes = model.restored.notes;
  report.details = model.restored.details;
  noteTypes();
  append_range(report.warnings, model.restored.warnings);
  append_range(report.warnings, findLostTraining(model, options));
  parameters = findParameters(model, operators, inputShapes, initializers,
                              options, report);
  randomness.readModes(model.graph(), *reader);

  // Nodes/: make each result a constant or an IR value.
  bindInputs();
  bindConstants();
  bindParameters();
  importNodes();
  checkOutputs();
  randomness.report(report);
  if (!report.issues.empty())
    return nullptr;

  mlir::OwningOpRef<mlir::ModuleOp> module = finish();
  if (failed(mlir::verify(*module)))
    return nullptr;
  return module;
}

} // namespace dtc::frontend

mlir::OwningOpRef<mlir::ModuleOp> dtc::importOnnx(mlir::MLIRContext &context,
                                                  const ImportOptions &options,
                                                  ImportReport &report) {
  return frontend::Importer(context, options, report).run();
}
