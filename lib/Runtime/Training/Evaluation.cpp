//===- Evaluation.cpp - the loss on data that are not trained on ----------===//

#include "Evaluation.h"

#include "Core/Error.h"
#include "Core/MappedFile.h"

#include <array>
#include <cmath>

using namespace dtc::rt;

static std::string chooseDirectory(const Options &options) {
  std::string directory =
      options.evalData.empty() ? options.data + "/valid" : options.evalData;
  if (!fileExists(directory))
    fail("found no directory '%s', expected one of validation data for "
         "--eval-every; make it, or name another with --eval-data DIR",
         directory.c_str());
  return directory;
}

static std::unique_ptr<DataSource> openSource(const dtc_context &context,
                                              const std::string &directory,
                                              const Options &options) {
  return openDataset(context.program,
                     {directory, /*seed=*/0,
                      /*shuffle=*/false, context.collectives.rank(),
                      context.collectives.size(), options.transform});
}

Evaluation::Evaluation(dtc_context &context, const Options &options,
                       Arena &arena)
    : context(context), arena(arena), directory(chooseDirectory(options)),
      every(options.evalEvery), steps(options.steps),
      source(openSource(context, directory, options)),
      loader(context.program, context.collectives.rank(), *source, arena) {
  int64_t samples = source->countSamples();
  batches = samples / context.program.globalBatch;
  rest = samples % context.program.globalBatch;
  if (options.evalBatches && options.evalBatches <= batches) {
    batches = options.evalBatches;
    rest = 0; // the user knows
  }
}

std::string Evaluation::describeRest() const {
  if (rest == 0)
    return {};
  return format("the last %lld samples of '%s' do not fill a batch of %lld and "
                "are not evaluated",
                (long long)rest, directory.c_str(),
                (long long)context.program.globalBatch);
}

bool Evaluation::isDue(int64_t step) const {
  return step % every == 0 || step == steps;
}

EvalMetrics Evaluation::run(int64_t step, const StepInputs &inputs) {
  double loss = 0, count = 0, right = 0;
  for (int64_t batch = 0; batch < batches; ++batch) {
    loader.load(batch);
    inputs.write({step, /*learningRate=*/0});
    context.device.run(context.program.evals[context.stage], context, arena);
    auto [lossSum, number, hits] =
        arena.load<std::array<double, 3>>(context.plan().eval);
    loss += lossSum;
    count += number;
    right += hits;
  }
  EvalMetrics metrics{step, loss / count, {}, {}};
  LossKind kind = context.program.loss;
  if (kind == LossKind::crossEntropy)
    metrics.perplexity = std::exp(metrics.loss);
  if (kind == LossKind::crossEntropy || kind == LossKind::bce)
    metrics.accuracy = right / count;
  return metrics;
}
