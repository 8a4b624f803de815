//===- FinishModel.cpp - options about the model --------------------------===//
//
// Parses texts such as NAME=N into ImportOptions.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Fail.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace dtc;

static LogicalResult readDims(ArrayRef<std::string> texts,
                              ImportOptions &import) {
  for (StringRef text : texts) {
    auto [name, number] = text.split('=');
    int64_t size;
    if (name.empty() || number.getAsInteger(10, size) || size < 1 ||
        size > maxCount)
      return fail("--dim is '" + text + "', expected NAME=N with N from 1 to " +
                  Twine(maxCount));
    import.dims[name.str()] = size;
  }
  return success();
}

static LogicalResult readBatchDims(ArrayRef<std::string> texts,
                                   ImportOptions &import) {
  for (StringRef text : texts) {
    auto [name, number] = text.rsplit('=');
    bool isNamed = text.contains('=');
    if (!isNamed)
      std::swap(name, number);
    int64_t dim;
    if (number.getAsInteger(10, dim) || dim < 0 || (isNamed && name.empty()))
      return fail("--batch-dim is '" + text +
                  "', expected K or NAME=K, a dimension counted from 0");
    import.batchDims[name.str()] = dim;
  }
  return success();
}

static LogicalResult readTies(ArrayRef<std::string> texts,
                              ImportOptions &import) {
  for (StringRef text : texts) {
    auto [a, b] = text.split('=');
    if (a.empty() || b.empty() || a == b)
      return fail("--tie is '" + text +
                  "', expected the names of two parameters, A=B");
    import.ties.emplace_back(a, b);
  }
  return success();
}

static LogicalResult readDropout(ArrayRef<std::string> texts,
                                 ImportOptions &import) {
  for (StringRef text : texts) {
    if (text == "none") {
      import.noDropout = true;
      continue;
    }
    auto [glob, number] = text.rsplit('=');
    if (number.empty())
      std::swap(glob, number);
    double probability;
    if (number.getAsDouble(probability) ||
        !(probability >= 0 && probability < 1) ||
        (glob.empty() && text.contains('=')))
      return fail("--dropout is '" + text +
                  "', expected P, GLOB=P or none with P from 0 to below 1");
    import.dropout.push_back({glob.str(), probability});
  }
  if (import.noDropout && texts.size() > 1)
    return fail("--dropout is none, and something else; expected one of them");
  return success();
}

/// Rejects 16-bit options for a model in f64.
static LogicalResult checkTypes(const DriverOptions &options) {
  for (const auto &[name, value] :
       {std::pair("precision", options.compile.training.precision),
        {"reduce-dtype", options.compile.parallel.reduceDtype}})
    if (options.compile.import.f64 && value != "fp32")
      return fail(Twine("--") + name + " is " + value +
                  ", but --dtype f64 computes all in double precision; leave "
                  "out one of them");
  return success();
}

LogicalResult dtc::finishModel(DriverOptions &options) {
  const ModelOptions &model = options.model;
  const TrainingOptions &training = options.compile.training;
  ImportOptions &import = options.compile.import;
  if (import.path.empty())
    return fail("found no model, expected dtc MODEL.onnx [options]; see dtc "
                "--help");
  if (failed(readDims(model.dims, import)) ||
      failed(readBatchDims(model.batchDims, import)) ||
      failed(readTies(model.ties, import)) ||
      failed(readDropout(model.dropout, import)))
    return failure();
  if (training.batch > 0)
    import.batch = training.batch;
  import.untie = model.untie;
  import.f64 = model.dtype == "f64";
  import.parameters = model.parameters;
  if (training.expertBiasUpdate)
    import.kept.push_back(training.expertBiases);
  StringRef own = training.loss;
  import.output = own.consume_front("output:") ? own.str() : training.output;
  import.isBatchNormChosen = isGiven("batchnorm");
  import.isFreezeChosen = !training.freeze.empty();
  if (failed(checkTypes(options)))
    return failure();
  if (options.readsInitialWeights() && !llvm::sys::fs::exists(model.init))
    return fail("--init is '" + model.init +
                "', expected normal or xavier or kaiming or a file, and there "
                "is no such file");
  return success();
}
