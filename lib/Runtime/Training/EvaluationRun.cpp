//===- EvaluationRun.cpp - an evaluation without a training ---------------===//

#include "EvaluationRun.h"

#include "Agreement/Agree.h"
#include "Checkpoint/Checkpointer.h"
#include "Checkpoint/Parameters.h"
#include "Collectives/Collectives.h"
#include "Core/Error.h"
#include "Core/Outcome.h"
#include "Device/Device.h"
#include "Outputs.h"

#include <cmath>
#include <cstdio>

using namespace dtc::rt;

EvaluationRun::EvaluationRun(const Program &program, const Options &options,
                             Collectives &collectives, Device &device)
    : program(program), options(options),
      context(program, collectives.rank(), collectives, device,
              options.overlaps),
      arena(device.makeArena(
          context.plan().arenaBytes, context.plan().hostBytes,
          collectives.sharesArena() ? Sharing::machine : Sharing::none)),
      inputs(program, context.plan(), collectives.rank(), *arena, options.seed),
      evaluation(context, options, *arena, chooseEvaluationData(options)),
      average(context, *arena) {
  collectives.observe(context);
  if (leads())
    lockOutputs(program, options, outputs);
  if (!options.predict.empty())
    predictions.emplace(context, *arena, options.predict,
                        evaluation.countSamples());
}

void EvaluationRun::expectSameData() const {
  std::vector<ComparedFile> files = evaluation.data().files();
  for (ComparedFile &file : files)
    file.name = "'" + file.name + "' of the evaluation data";
  expectSameFiles(files, coverage(), context.collectives);
}

std::string EvaluationRun::announce() const {
  return format("%s: %s (%s), %s, evaluates %s", options.name.c_str(),
                program.model.c_str(), program.dtype.c_str(),
                program.mesh.describe().c_str(), evaluation.describe().c_str());
}

void EvaluationRun::loadState() {
  if (!options.checkpointDir.empty())
    step = Checkpointer(context, *arena, options,
                        TrainingSetting(program, options, /*data=*/""))
               .load();
  else
    agree(context.collectives, attempt([&] {
            expectSameWeights(program, options.initWeights, coverage(),
                              context.collectives);
          }),
          options.name);
  agree(context.collectives, attempt([&] {
          if (options.checkpointDir.empty())
            loadParameters(context, *arena, options.seed, options.initWeights);
          if (leads())
            reporter.emplace(program, options, /*bar=*/false,
                             context.plan().arenaBytes,
                             /*resumedAtStep=*/std::nullopt);
        }),
        options.name);
}

bool EvaluationRun::run() {
  WorkerAverage::Scope ofMean(average);
  EvalMetrics metrics =
      evaluation.run(step, inputs, predictions ? &*predictions : nullptr);
  metrics.workerDistance = average.distance();
  if (predictions)
    predictions->commit();
  if (!leads())
    return std::isfinite(metrics.loss);
  reporter->report(metrics);
  if (std::isfinite(metrics.loss))
    return true;
  fflush(stdout);
  fprintf(stderr,
          "%s: error: the loss is %g: the weights or the data have numbers "
          "that are none, or too large, or no label counts\n",
          options.name.c_str(), metrics.loss);
  return false;
}
