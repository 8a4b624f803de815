//===- Driver.cpp - from command line to executable -----------------------===//
//
// Runs the phases on one model, and writes the requested outputs after each.
//
//===----------------------------------------------------------------------===//

#include "dtc/Driver/Driver.h"
#include "Compilation.h"
#include "DeviceMemory.h"
#include "Fail.h"
#include "dtc/Report/ModelGraph.h"
#include "dtc/Report/Report.h"
#include "dtc/Target/CUDA/CountLaunches.h"
#include "dtc/Target/Targets.h"
#include "dtc/Training/Synchronization.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace dtc;

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

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerDialects(registry);
  return registry;
}

Compilation::Compilation(const DriverOptions &options)
    : options(options), context(makeRegistry()),
      handler(&context, [this](Diagnostic &d) { return print(d); }) {
  context.printOpOnDiagnostic(false);
}

LogicalResult
Compilation::write(StringRef path,
                   llvm::function_ref<void(llvm::raw_ostream &)> body) {
  llvm::Error error = writeOutput(path, body);
  return error ? fail(llvm::toString(std::move(error))) : success();
}

/// Proves that code compiled for two replicas is right for any number.
LogicalResult Compilation::proveReplicas() {
  int64_t replicas = strategy.parallel.getOpenReplicas();
  Strategy larger = strategy;
  larger.parallel.dp = (replicas + 1) * strategy.parallel.hsdp;
  larger.training.batch = strategy.training.batch / replicas * (replicas + 1);
  larger.set(*more);
  return dtc::proveReplicas(*module, *more);
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

/// Says how replicas that train apart come together.
static void printWorkers(const ParallelOptions &plan) {
  Synchronization sync = getSynchronization(plan);
  int64_t workers = countWorkers(plan);
  if (!sync.hasWorkers())
    return;
  llvm::outs() << "workers      " << formatCount(workers, "replica");
  if (sync.hasServer())
    llvm::outs() << " and a server, at most " << formatCount(sync.ahead, "step")
                 << " apart\n";
  else if (sync.kind == Synchronization::Every)
    llvm::outs() << ", averaged every " << formatCount(sync.period, "step")
                 << "\n";
  else
    llvm::outs() << llvm::format(
        ", mixed in each step, which shrinks their distance from the mean to "
        "%.3g times itself%s\n",
        getContraction(getMixing(sync.mixing, workers)),
        sync.mixing == MixingKind::OnePeer ? ", on average" : "");
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
    printWorkers(strategy.parallel);
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
