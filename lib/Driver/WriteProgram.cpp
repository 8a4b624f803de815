//===- WriteProgram.cpp - the phase link ----------------------------------===//

#include "Compilation.h"
#include "Fail.h"
#include "dtc/Lowering/Program.h"
#include "dtc/Runtime/ABI.h"
#include "dtc/Support/TemporaryFile.h"
#include "dtc/Target/Targets.h"
#include "dtc/Training/Optimizers.h"
#include "dtc/Training/Synchronization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace dtc;
namespace json = llvm::json;

/// Describes the optimizer, and the exchange of gradients if it changes what is
/// optimized, for the training program's output. Options were checked.
static json::Object describeOptimizer(const Strategy &strategy) {
  const TrainingOptions &options = strategy.training;
  const ParallelOptions &plan = strategy.parallel;
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
  if (plan.compress != "none") {
    result["compress"] = plan.compress;
    result["error_feedback"] = plan.errorFeedback;
  }
  if (plan.sync != "step")
    result["sync"] = plan.sync;
  return result;
}

/// Appends the weights to the program's file.
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

/// Writes the weights to a file of their own.
llvm::Error Compilation::keepWeights(OutputFile &external) {
  if (llvm::Error error = external.write([&](llvm::raw_ostream &os) {
        writeSafetensors(os, imported.parameters);
      }))
    return error;
  return external.keep();
}

/// The facts that the manifest needs from outside the IR, except the name of
/// the weights file.
ProgramInfo Compilation::getInfo() {
  const TrainingOptions &training = options.compile.training;
  ProgramInfo info;
  info.model = llvm::sys::path::stem(options.compile.import.path).str();
  info.dtype = getNumbers(options.compile);
  info.loss = StringRef(training.loss).split(':').first.str();
  info.globalBatch = globalBatch;
  info.skipsNonFinite = training.skipNonFinite;
  info.replicasAtLaunch = strategy.parallel.replicasAtLaunch;
  if (Synchronization sync = getSynchronization(strategy.parallel);
      sync.hasServer())
    info.server = ProgramInfo::Server{sync.ahead, sync.rateByStaleness};
  if (options.device)
    info.peakFlops = options.device->speed.getFlops(info.dtype);
  info.initializers = std::move(initializers);
  for (const Parameter &parameter : imported.parameters.parameters)
    if (!parameter.aliases.empty())
      info.aliases[parameter.name] = parameter.aliases;
  for (const Buffer &buffer : imported.parameters.buffers)
    info.buffers.push_back(buffer.name);
  info.optimizer = describeOptimizer(options.compile);
  return info;
}

/// Creates all outputs under temporary names, and renames them at the end.
LogicalResult Compilation::link() {
  auto failWith = [](llvm::Error error) {
    return fail(llvm::toString(std::move(error)));
  };
  llvm::Expected<OutputFile> program = OutputFile::create(options.output);
  if (!program)
    return failWith(program.takeError());
  // Functions are compiled in parallel, a few in each object file. Long lists
  // of calls have an object file of their own.
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
  ProgramInfo info = getInfo();
  std::optional<OutputFile> weights; // external weights
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

/// Prints the command that starts the program.
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
