//===- Driver.cpp - from command line to executable -----------------------===//
//
// Runs the phases on one model, writes what was asked for, links.
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"
#include "Fail.h"
#include "dtc/Dialect/Dialect.h"
#include "dtc/Driver/Driver.h"
#include "dtc/Frontend/InitialWeights.h"
#include "dtc/Lowering/Program.h"
#include "dtc/Report/ModelGraph.h"
#include "dtc/Report/Report.h"
#include "dtc/Runtime/ABI.h"
#include "dtc/Support/FormatShape.h"
#include "dtc/Target/CUDA/CountLaunches.h"
#include "dtc/Target/Targets.h"
#include "dtc/Training/FindFunction.h"
#include "dtc/Training/InitialValues.h"
#include "dtc/Training/Optimizers.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace dtc;
namespace json = llvm::json;

std::vector<std::pair<std::string, std::string>>
DriverOptions::getOutputs() const {
  bool isProgram = getLastPhase() == CompilePhase::Link;
  std::vector<std::pair<std::string, std::string>> outputs;
  if (isProgram || writeIr)
    outputs.emplace_back("-o", output);
  if (isProgram && !embedsWeights())
    outputs.emplace_back("--weights external", output + ".safetensors");
  for (const auto &[option, path] : {std::pair("--report-json", reportJson),
                                     {"--timeline", timeline},
                                     {"--graph", graph}})
    if (!path.empty())
      outputs.emplace_back(option, path);
  return outputs;
}

/// The optimizer as the training program prints it. Options were checked.
static json::Object describeOptimizer(const TrainingOptions &options) {
  const Optimizer *optimizer = cantFail(findOptimizer(options.optimizer));
  json::Object result{{"name", options.optimizer},
                      {"lr", options.lr.value_or(optimizer->lr)}};
  for (const auto &[name, value] :
       cantFail(completeSettings(*optimizer, getGivenSettings(options))))
    result[name] = name == "nesterov" ? json::Value(value != 0) : value;
  if (options.clipNorm)
    result["clip_norm"] = *options.clipNorm;
  if (options.ema)
    result["ema"] = *options.ema;
  return result;
}

namespace {

/// One compilation: what is handed from phase to phase.
class Compilation {
public:
  explicit Compilation(const DriverOptions &options)
      : options(options), context(makeRegistry()),
        handler(&context, [this](Diagnostic &d) { return print(d); }) {
    context.printOpOnDiagnostic(false);
  }

  LogicalResult run();

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  LogicalResult print(Diagnostic &diagnostic);
  void printMessage(Location location, const std::string &text);
  LogicalResult import();
  OwningOpRef<ModuleOp> importFor(int64_t replicas, ImportReport &report);
  LogicalResult importMore(int64_t replicas);
  LogicalResult proveReplicas();
  LogicalResult readInitialWeights();
  void warnOfNotFinite();
  LogicalResult findBatch();
  LogicalResult runPhase(CompilePhase phase);
  LogicalResult show(CompilePhase phase);
  LogicalResult drawGraph();
  LogicalResult report();
  LogicalResult checkMemory();
  llvm::Error embedWeights(OutputFile &program);
  llvm::Error keepWeights(OutputFile &external);
  LogicalResult link();
  void printStart() const;
  LogicalResult write(StringRef path,
                      llvm::function_ref<void(llvm::raw_ostream &)> body);

  const DriverOptions &options;
  MLIRContext context;
  ScopedDiagnosticHandler handler;
  llvm::StringSet<> errors; ///< what was printed
  ImportReport imported;
  Initializers initializers;
  int64_t globalBatch = 0;
  OwningOpRef<ModuleOp> module;
  OwningOpRef<ModuleOp> model; ///< as imported, if other plans may be tried
  OwningOpRef<ModuleOp> more;  ///< for one more replica, if any number may run
  Strategy strategy;           ///< what is asked for, the batch included
};

} // namespace

/// "its reshape has a sequence" of "'dtc.reshape' op has a sequence".
static std::string withoutDialect(std::string text) {
  StringRef rest = text;
  if (!rest.consume_front("'dtc."))
    return text;
  auto [op, message] = rest.split("' op ");
  return message.empty() ? text : ("its " + op + " " + message).str();
}

/// An error about the model as a whole names the file, not a node.
void Compilation::printMessage(Location location, const std::string &text) {
  std::string message = text;
  if (auto name = location->findInstanceOf<NameLoc>()) {
    bool isNode = !module || location != module->getLoc();
    message = (isNode ? "node '" : "'") + name.getName().getValue().str() +
              "': " + (isNode ? withoutDialect(text) : text);
  }
  llvm::errs() << shortenMessage(message) << "\n";
}

/// Diagnostics in the words of the model: the ONNX node, not a place in IR.
LogicalResult Compilation::print(Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
      !errors.insert(text).second)
    return success(); // once is enough, though other nodes have it, too
  llvm::raw_ostream &os = llvm::errs();
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    llvm::WithColor::error(os, "dtc");
    break;
  case DiagnosticSeverity::Warning:
    llvm::WithColor::warning(os, "dtc");
    break;
  default:
    llvm::WithColor::remark(os, "dtc");
  }
  printMessage(diagnostic.getLocation(), text);
  for (Diagnostic &note : diagnostic.getNotes()) {
    llvm::WithColor::note(os, "dtc");
    printMessage(note.getLocation(), note.str());
  }
  return success();
}

LogicalResult
Compilation::write(StringRef path,
                   llvm::function_ref<void(llvm::raw_ostream &)> body) {
  llvm::Error error = writeOutput(path, body);
  return error ? fail(llvm::toString(std::move(error))) : success();
}

/// Imports the model, for a batch of so many replicas if their number is open.
OwningOpRef<ModuleOp> Compilation::importFor(int64_t replicas,
                                             ImportReport &report) {
  ImportOptions import = options.compile.import;
  if (replicas > 0 && import.batch)
    *import.batch *= replicas;
  return importOnnx(context, import, report);
}

/// Imports the model for one more replica, too, and opens what counts them. One
/// replica shows where a count is bounded below; 5 and 16, where it is divided
/// or bounded above.
LogicalResult Compilation::importMore(int64_t replicas) {
  SmallVector<int64_t> counts = {replicas, replicas + 1, 1, 5, 16};
  SmallVector<OwningOpRef<ModuleOp>> others;
  SmallVector<ModuleOp> models = {*module};
  for (int64_t count : ArrayRef(counts).drop_front()) {
    ImportReport report;
    others.push_back(importFor(count, report));
    if (!others.back()) {
      report.printIssues(llvm::errs());
      return failure();
    }
    models.push_back(*others.back());
  }
  more = std::move(others.front());
  return openCounts(models, counts);
}

/// What is compiled for two replicas is right for any number of them.
LogicalResult Compilation::proveReplicas() {
  int64_t replicas = strategy.parallel.getOpenReplicas();
  Strategy larger = strategy;
  larger.parallel.dp = (replicas + 1) * strategy.parallel.hsdp;
  larger.training.batch = strategy.training.batch / replicas * (replicas + 1);
  larger.set(*more);
  return dtc::proveReplicas(*module, *more);
}

/// The first dimension of all inputs: data are samples.
LogicalResult Compilation::findBatch() {
  auto forward = module->lookupSymbol<func::FuncOp>(forwardName);
  StringRef first;
  for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
    auto name = forward.getArgAttrOfType<StringAttr>(i, attr::input);
    if (!name || forward.getArgAttr(i, attr::kind)) // a seed or the like
      continue;
    auto type = cast<RankedTensorType>(forward.getArgumentTypes()[i]);
    if (globalBatch == 0 && type.getRank() > 0) {
      globalBatch = type.getDimSize(0);
      first = name;
    }
    if (type.getRank() == 0 || type.getDimSize(0) != globalBatch)
      return fail("input '" + name.getValue() + "' has shape " +
                  formatShape(type.getShape().vec()) +
                  ", expected as its first dimension the batch" +
                  (first.empty()
                       ? Twine()
                       : ", " + Twine(globalBatch) + " as of '" + first + "'") +
                  ": data are samples; --batch-dim says where else the batch "
                  "is, and what has none is exported as a constant");
  }
  if (globalBatch == 0)
    return fail("the model has no input with a dimension, expected one whose "
                "first is the batch; export it with the data as an input");
  return success();
}

/// Whether a pattern names tensors of the model, none of which is trained
/// anyway: parameters of what is detached are kept as buffers are.
static bool namesBuffersOnly(StringRef text, const ParameterTable &table) {
  llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(text);
  if (!glob) {
    llvm::consumeError(glob.takeError()); // reported where it is used
    return false;
  }
  auto matches = [&](const auto &tensor) { return glob->match(tensor.name); };
  return llvm::any_of(table.buffers, matches) &&
         llvm::none_of(table.parameters, matches);
}

LogicalResult Compilation::import() {
  int64_t replicas = options.compile.parallel.getOpenReplicas();
  module = importFor(replicas, imported);
  if (!module) {
    imported.printIssues(llvm::errs());
    return failure();
  }
  imported.printNotes(llvm::errs(), options.verbose);
  if (replicas > 0 && failed(importMore(replicas)))
    return failure();
  bool isFile = options.readsInitialWeights();
  if (isFile && failed(readInitialWeights()))
    return failure();
  for (const Parameter &parameter : imported.parameters.parameters)
    for (const auto &[option, path] : options.getOutputs())
      if (!parameter.file.empty() &&
          llvm::sys::fs::equivalent(path, parameter.file))
        return fail(option + " writes '" + path +
                    "', which has weights of the model; expected another file");
  // Only a program needs weights; plans are made without.
  if (options.getLastPhase() == CompilePhase::Link) {
    auto hasWeights = [&](StringRef name) {
      const Parameter *parameter = imported.parameters.find(name);
      return parameter && parameter->hasData;
    };
    FailureOr<Initializers> chosen = chooseInitializers(
        *module, isFile ? StringRef() : options.model.init, hasWeights);
    if (failed(chosen))
      return failure();
    initializers = std::move(*chosen);
    warnOfNotFinite();
  }
  if (failed(findBatch()))
    return failure();
  // A batch that is fixed in the file becomes the one asked for (ScaleBatch).
  if (options.compile.training.batch > 0)
    globalBatch = options.compile.training.batch;
  strategy = options.compile;
  llvm::erase_if(strategy.training.freeze, [&](StringRef glob) {
    return namesBuffersOnly(glob, imported.parameters);
  });
  if (replicas > 0) {
    const ParallelOptions &plan = strategy.parallel;
    int64_t parts = plan.hsdp * strategy.getNumMicrobatches();
    if (globalBatch % parts)
      return fail("a replica's batch of " + Twine(globalBatch) +
                  " samples does not divide into hsdp x microbatches x "
                  "accumulate = " +
                  Twine(parts) + " parts; use a --batch that does");
    strategy.training.batch = globalBatch *= replicas;
  }
  strategy.set(*module);
  if (options.deviceMemory)
    model = module->clone();
  return success();
}

/// The first of many names, and how many are left out.
static std::string listFirst(ArrayRef<std::string> names) {
  constexpr size_t most = 16;
  std::string list = llvm::join(names.take_front(most), ", ");
  if (names.size() > most)
    list += " and " + std::to_string(names.size() - most) + " more";
  return list;
}

/// Such a start makes the loss NaN, unless what has it masks something.
void Compilation::warnOfNotFinite() {
  std::vector<std::string> names;
  for (const Parameter &parameter : imported.parameters.parameters) {
    auto own = initializers.find(parameter.name);
    if (own != initializers.end() && own->second.kind == Initializer::Weights &&
        parameter.hasNotFinite())
      names.push_back(parameter.name);
  }
  if (!names.empty())
    warn("parameters start with NaN or infinite elements: " + listFirst(names) +
         "; check the weights, or start by a rule (--init normal)");
}

/// Parameters start as the tensors of a file.
LogicalResult Compilation::readInitialWeights() {
  llvm::Expected<InitialWeights> weights =
      loadInitialWeights(options.model.init, imported.parameters);
  if (!weights)
    return fail("--init: '" + options.model.init + "' " +
                llvm::toString(weights.takeError()));
  auto list = [&](StringRef title, ArrayRef<std::string> names) {
    if (!names.empty())
      warn("--init: " + Twine(names.size()) + " " + title + ": " +
           listFirst(names));
  };
  list("parameters that the file lacks start as the model has them",
       weights->missing);
  list("tensors that get no gradient differ in the file, and stay as the model "
       "has them (export it with these weights)",
       weights->kept);
  list("tensors of the file are no parameters of the model",
       weights->unexpected);
  if (!weights->differing.empty())
    warn("--init: the file has other elements for " +
         listFirst(weights->differing) +
         " than for what the model ties this to: the first of a tie counts; "
         "--untie keeps them apart");
  return success();
}

LogicalResult Compilation::runPhase(CompilePhase phase) {
  if (phase == CompilePhase::Import)
    return import();
  if (phase == CompilePhase::Link)
    return link();
  if (failed(dtc::runPhase(phase, *module)))
    return failure();
  if (phase == CompilePhase::Lower && strategy.parallel.replicasAtLaunch)
    return proveReplicas();
  return success();
}

LogicalResult Compilation::show(CompilePhase phase) {
  auto printModule = [&](llvm::raw_ostream &os) { module->print(os); };
  if (options.emit == phase)
    printModule(llvm::outs());
  if (options.dumpDir.empty())
    return success();
  if (std::error_code error =
          llvm::sys::fs::create_directories(options.dumpDir))
    return fail("cannot make " + options.dumpDir + ": " + error.message());
  llvm::SmallString<128> path(options.dumpDir);
  llvm::sys::path::append(path, "0" + llvm::Twine(int(phase) + 1) + "-" +
                                    getPhaseName(phase) + ".mlir");
  return write(path, printModule);
}

LogicalResult Compilation::drawGraph() {
  if (options.graph.empty())
    return success();
  FailureOr<ModelGraph> graph = ModelGraph::build(*module);
  if (failed(graph))
    return failure();
  return write(options.graph,
               [&](llvm::raw_ostream &os) { graph->printSvg(os); });
}

LogicalResult Compilation::report() {
  if (!options.needsReport())
    return success();
  FailureOr<Report> report =
      Report::compute(*module, options.topology ? &*options.topology : nullptr,
                      options.profile ? &*options.profile : nullptr);
  if (failed(report))
    return failure();
  if (options.compile.target.kind == "cuda") {
    FailureOr<llvm::StringMap<int64_t>> launches = countLaunches(*module);
    if (failed(launches) || failed(report->addDeviceWork(*module, *launches)))
      return failure();
  }
  for (StageReport &stage : report->stages)
    stage.reservedBytes = getReservedBytes(options.compile.target, *module);
  if (options.report) {
    if (strategy.parallel.replicasAtLaunch)
      llvm::outs() << "replicas     any number; what follows is of two\n";
    report->print(llvm::outs());
    imported.printConstants(llvm::outs());
  }
  if (!options.reportJson.empty() &&
      failed(write(options.reportJson, [&](llvm::raw_ostream &os) {
        os << report->toJson() << "\n";
      })))
    return failure();
  if (options.timeline.empty())
    return success();
  return write(options.timeline, [&](llvm::raw_ostream &os) {
    if (StringRef(options.timeline).ends_with(".svg"))
      report->timeline.printSvg(os);
    else
      os << report->timeline.toTrace() << "\n";
  });
}

LogicalResult Compilation::checkMemory() {
  if (!options.deviceMemory)
    return success();
  return checkDeviceMemory(*module, *model, strategy, globalBatch,
                           *options.deviceMemory, options.deviceMemoryText);
}

/// Writes the weights behind the program's code.
llvm::Error Compilation::embedWeights(OutputFile &program) {
  return program.write([&](llvm::raw_ostream &os) {
    os.write_zeros(llvm::offsetToAlignment(os.tell(), llvm::Align(64)));
    uint64_t start = os.tell();
    writeSafetensors(os, imported.parameters);
    uint64_t size = os.tell() - start;
    llvm::support::endian::write(os, size, llvm::endianness::little);
    os << DTC_WEIGHTS_MARK;
  });
}

/// Writes them to a file of their own.
llvm::Error Compilation::keepWeights(OutputFile &external) {
  if (llvm::Error error = external.write([&](llvm::raw_ostream &os) {
        writeSafetensors(os, imported.parameters);
      }))
    return error;
  return external.keep();
}

/// Everything is made under temporary names. Outputs take their own at the end.
LogicalResult Compilation::link() {
  auto failWith = [](llvm::Error error) {
    return fail(llvm::toString(std::move(error)));
  };
  llvm::Expected<OutputFile> program = OutputFile::create(options.output);
  if (!program)
    return failWith(program.takeError());
  // Functions are compiled at the same time, a few in each object. Long lists
  // of calls have one of their own.
  constexpr size_t leastObjects = 2, mostObjects = 8, functionsEach = 12;
  size_t functions = llvm::range_size(module->getOps<LLVM::LLVMFuncOp>());
  std::vector<TemporaryFile> objects;
  std::vector<std::string> paths;
  do {
    llvm::Expected<TemporaryFile> object = TemporaryFile::create(".o");
    if (!object)
      return failWith(object.takeError());
    paths.push_back(object->getPath());
    objects.push_back(std::move(*object));
  } while (objects.size() <
           std::clamp(functions / functionsEach, leastObjects, mostObjects));
  const TrainingOptions &training = options.compile.training;
  ProgramInfo info;
  info.model = llvm::sys::path::stem(options.compile.import.path).str();
  info.dtype = getNumbers(options.compile);
  info.loss = StringRef(training.loss).split(':').first.str();
  info.globalBatch = globalBatch;
  info.skipsNonFinite = training.skipNonFinite;
  info.replicasAtLaunch = strategy.parallel.replicasAtLaunch;
  if (options.device)
    info.peakFlops = options.device->speed.getFlops(info.dtype);
  info.initializers = std::move(initializers);
  for (const Parameter &parameter : imported.parameters.parameters)
    if (!parameter.aliases.empty())
      info.aliases[parameter.name] = parameter.aliases;
  for (const Buffer &buffer : imported.parameters.buffers)
    info.buffers.push_back(buffer.name);
  info.optimizer = describeOptimizer(training);
  std::optional<OutputFile> weights; // external ones
  if (!options.embedsWeights()) {
    llvm::Expected<OutputFile> file =
        OutputFile::create(options.output + ".safetensors");
    if (!file)
      return failWith(file.takeError());
    weights = std::move(*file);
    info.weightsFile = llvm::sys::path::filename(weights->getPath()).str();
  }
  std::shared_ptr<const Target> target =
      llvm::cantFail(getTarget(options.compile.target));
  if (failed(addProgramObject(*module, info)) ||
      failed(target->emitObjects(*module, paths, options.dumpDir)) ||
      failed(linkProgram(paths, *target, options.runtimeDir, *program)))
    return failure();
  if (llvm::Error error =
          weights ? keepWeights(*weights) : embedWeights(*program))
    return failWith(std::move(error));
  if (llvm::Error error = program->keep())
    return failWith(std::move(error));
  printStart();
  return success();
}

/// How the program that is there now is started.
void Compilation::printStart() const {
  StringRef name = options.output;
  llvm::errs() << "wrote '" << name
               << "'; start it with: " << (name.contains('/') ? "" : "./")
               << name;
  if (strategy.parallel.replicasAtLaunch)
    llvm::errs() << " --nproc N";
  else if (int64_t ranks = strategy.parallel.getNumRanks(); ranks > 1)
    llvm::errs() << " --nproc " << ranks;
  llvm::errs() << " --data DIR\n";
}

LogicalResult Compilation::run() {
  for (CompilePhase phase : allPhases) {
    if (failed(runPhase(phase)))
      return failure();
    if (phase == CompilePhase::Link)
      break;
    if (options.afterPhase && failed(options.afterPhase(phase, *module)))
      return failure();
    if (failed(show(phase)))
      return failure();
    if (phase == CompilePhase::Parallel && failed(drawGraph()))
      return failure();
    if (phase == CompilePhase::Schedule &&
        (failed(report()) || failed(checkMemory())))
      return failure();
    if (phase != options.getLastPhase())
      continue;
    if (options.writeIr)
      return write(options.output,
                   [&](llvm::raw_ostream &os) { module->print(os); });
    break;
  }
  return success();
}

LogicalResult dtc::compileModel(const DriverOptions &options) {
  return Compilation(options).run();
}
