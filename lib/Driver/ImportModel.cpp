//===- ImportModel.cpp - the phase import, and the strategy ---------------===//

#include "Compilation.h"
#include "Fail.h"
#include "dtc/Dialect/FindFunction.h"
#include "dtc/Support/FormatShape.h"
#include "dtc/Training/Synchronization.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace dtc;

/// Imports the model for a batch of `replicas` replicas, if their number is
/// open.
OwningOpRef<ModuleOp> Compilation::importFor(int64_t replicas,
                                             ImportReport &report) {
  ImportOptions import = options.compile.import;
  if (replicas > 0 && import.batch)
    *import.batch *= replicas;
  return importOnnx(context, import, report);
}

/// Imports the model for one more replica, too, and makes constants that count
/// replicas depend on the launch. Also imports it for one replica, which shows
/// counts with a lower bound, and for 5 and 16, which show counts with a
/// division or an upper bound.
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

/// Finds the batch: the first dimension of all inputs, which hold samples.
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
    return fail(
        "the model has only scalar inputs, expected an input whose first "
        "dimension is the batch; export it with the data as an input");
  return success();
}

/// Whether a pattern matches only tensors that are never trained: parameters of
/// detached modules are stored like buffers.
static bool namesBuffersOnly(StringRef text, const ParameterTable &table) {
  llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(text);
  if (!glob) {
    llvm::consumeError(glob.takeError()); // reported where the pattern is used
    return false;
  }
  auto matches = [&](const auto &tensor) { return glob->match(tensor.name); };
  return llvm::any_of(table.buffers, matches) &&
         llvm::none_of(table.parameters, matches);
}

/// Checks that no output overwrites weights of the model.
LogicalResult Compilation::checkFiles() {
  for (const Parameter &parameter : imported.parameters.parameters)
    for (const auto &[option, path] : options.getOutputs())
      if (!parameter.file.empty() &&
          llvm::sys::fs::equivalent(path, parameter.file))
        return fail(option + " writes '" + path +
                    "', which has weights of the model; expected another file");
  return success();
}

LogicalResult Compilation::setStrategy() {
  // ScaleBatch changes a batch that is fixed in the file to --batch.
  if (options.compile.training.batch > 0)
    globalBatch = options.compile.training.batch;
  strategy = options.compile;
  llvm::erase_if(strategy.training.freeze, [&](StringRef glob) {
    return namesBuffersOnly(glob, imported.parameters);
  });
  const ParallelOptions &plan = strategy.parallel;
  if (int64_t replicas = plan.getOpenReplicas()) {
    int64_t parts = plan.hsdp * strategy.getNumMicrobatches();
    if (globalBatch % parts)
      return fail("a replica's batch of " + Twine(globalBatch) +
                  " samples does not divide into hsdp x microbatches x "
                  "accumulate = " +
                  Twine(parts) + " parts; use a --batch that does");
    strategy.training.batch = globalBatch *= replicas;
  }
  // The model computes with the batch of one worker.
  if (int64_t workers = countWorkers(plan); workers > 1) {
    if (globalBatch % workers)
      return fail("the model's batch of " + Twine(globalBatch) +
                  " samples does not divide among the " + Twine(workers) +
                  " replicas that train apart (--sync " + plan.sync +
                  "); give a --batch that does");
    strategy.training.batch = globalBatch / workers;
  }
  strategy.set(*module);
  return success();
}

LogicalResult Compilation::import() {
  int64_t replicas = options.compile.parallel.getOpenReplicas();
  module = importFor(replicas, imported);
  if (!module) {
    imported.printIssues(llvm::errs());
    return failure();
  }
  imported.printNotes(llvm::errs(), options.verbose);
  if ((replicas > 0 && failed(importMore(replicas))) ||
      (options.readsInitialWeights() && failed(readInitialWeights())) ||
      failed(checkFiles()))
    return failure();
  // Only programs contain weights. Plans do not need them.
  if (options.getLastPhase() == CompilePhase::Link && failed(chooseStart()))
    return failure();
  if (failed(findBatch()) || failed(setStrategy()))
    return failure();
  if (options.deviceMemory)
    model = module->clone();
  return success();
}
