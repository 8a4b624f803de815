//===- Evaluation.cpp - the loss on data that are not trained on ----------===//

#include "Evaluation.h"

#include "Collectives/Collectives.h"
#include "Core/Error.h"
#include "Device/Device.h"
#include "System/MappedFile.h"

#include <cmath>
#include <cstring>

using namespace dtc::rt;

std::string dtc::rt::chooseEvaluationData(const Options &options) {
  std::string directory =
      options.evalData.empty() ? options.data + "/valid" : options.evalData;
  // Without a training, the data are those to evaluate.
  if (options.evaluates && options.evalData.empty() && !fileExists(directory))
    directory = options.data;
  if (!fileExists(directory))
    fail("found no directory '%s', expected one of validation data for %s; "
         "make it, or name another with --eval-data DIR",
         directory.c_str(), options.evaluates ? "--evaluate" : "--eval-every");
  return directory;
}

static std::unique_ptr<DataSource> openSource(const dtc_context &context,
                                              const std::string &directory,
                                              const Options &options) {
  DataOptions data{
      directory,
      /*seed=*/0,
      /*shuffle=*/false, context.collectives.rank(), context.collectives.size(),
      options.transform};
  data.everySample = true;
  return openDataset(context.program, data);
}

Evaluation::Evaluation(dtc_context &context, const Options &options,
                       Arena &arena, const std::string &directory)
    : context(context), arena(arena), directory(directory),
      source(openSource(context, directory, options)),
      loader(context.program, context.collectives.rank(), *source, arena),
      order(source->countSamples(), context.program.globalBatch),
      samples(source->countSamples()), hasRest(false) {
  int64_t batch = context.program.globalBatch;
  if (context.program.mixesSamples) {
    if (samples < batch)
      fail("'%s' has %lld samples, expected at least one batch of %lld, since "
           "this model computes with pairs of samples of a batch",
           directory.c_str(), (long long)samples, (long long)batch);
    hasRest = samples % batch != 0;
    samples -= samples % batch;
  }
  if (options.evalBatches && options.evalBatches <= samples / batch) {
    samples = options.evalBatches * batch;
    hasRest = false; // the user knows
  }
}

std::string Evaluation::describe() const {
  return format("%lld sample%s of '%s'", (long long)samples,
                samples == 1 ? "" : "s", directory.c_str());
}

std::string Evaluation::describeRest() const {
  if (!hasRest)
    return {};
  return format("the last %lld samples of '%s' do not fill a batch of %lld and "
                "are not evaluated, since this model computes with pairs of "
                "samples of a batch",
                (long long)(source->countSamples() - samples),
                directory.c_str(), (long long)context.program.globalBatch);
}

EvalMetrics Evaluation::run(int64_t step, const StepInputs &inputs,
                            Predictions *predictions) {
  const Program &program = context.program;
  std::vector<double> sums(size_t(program.countEvalSums()));
  context.predictions = predictions;
  for (int64_t done = 0, run = 0; done < samples; ++run) {
    int64_t own = order.run(run).samples;
    loader.load(run);
    inputs.write({step, /*learningRate=*/0});
    context.device.run(program.evals[context.stage], context, arena);
    // Each sample of the run was evaluated this many times.
    int64_t repeats = program.globalBatch / own;
    arena.read(context.plan().eval, int64_t(sums.size() * sizeof(double)),
               [&](const char *data) {
                 for (size_t i = 0; i < sums.size(); ++i) {
                   double value;
                   memcpy(&value, data + i * sizeof value, sizeof value);
                   sums[i] += value / double(repeats);
                 }
               });
    if (predictions)
      predictions->append(own);
    done += own;
  }
  context.predictions = nullptr;
  return summarize(program, step, sums);
}

/// The mean of the F1 scores of classes, as scikit-learn's
/// f1_score(average="macro", zero_division=0): of those that labels or
/// predictions have, or, where each class has labels of its own, of all.
static double macroF1(const double *hits, const double *predictions,
                      const double *labels, int64_t classes, bool ofAll) {
  double sum = 0;
  int64_t number = 0;
  for (int64_t i = 0; i < classes; ++i) {
    double total = predictions[i] + labels[i];
    sum += total > 0 ? 2 * hits[i] / total : 0;
    number += total > 0 || ofAll;
  }
  return sum / double(number);
}

EvalMetrics dtc::rt::summarize(const Program &program, int64_t step,
                               const std::vector<double> &sums) {
  // The first sum of a name; null if there is none.
  auto find = [&](const char *name) -> const double * {
    int64_t at = 0;
    for (const EvalSum &sum : program.evalSums) {
      if (sum.name == name)
        return &sums[size_t(at)];
      at += sum.size;
    }
    return nullptr;
  };
  double count = *find("count");
  EvalMetrics metrics{step, *find("loss") / count};
  if (const double *loss = find("training_loss"))
    metrics.trainingLoss = *loss / *find("training_count");
  if (program.isLanguageModel)
    metrics.perplexity = std::exp(metrics.loss);
  if (const double *right = find("right"))
    metrics.accuracy = *right / count;
  if (const double *right = find("top5"))
    metrics.top5 = *right / count;
  if (const double *hits = find("class_hits"))
    metrics.f1 = macroF1(hits, find("class_predictions"), find("class_labels"),
                         program.sizeOfEvalSum("class_hits"),
                         /*ofAll=*/program.loss == LossKind::bce);
  return metrics;
}
