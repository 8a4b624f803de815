//===- StartWeights.cpp - initial values of parameters --------------------===//

#include "Compilation.h"
#include "Fail.h"
#include "dtc/Frontend/InitialWeights.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dtc;

/// The first of many names, and the number of the others.
static std::string listFirst(ArrayRef<std::string> names) {
  constexpr size_t most = 16;
  std::string list = llvm::join(names.take_front(most), ", ");
  if (names.size() > most)
    list += " and " + std::to_string(names.size() - most) + " more";
  return list;
}

/// Warns of NaN and infinite values: they make the loss NaN, unless they are
/// part of a mask.
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

/// Reads the initial values of parameters from a file.
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

LogicalResult Compilation::chooseStart() {
  auto hasWeights = [&](StringRef name) {
    const Parameter *parameter = imported.parameters.find(name);
    return parameter && parameter->hasData;
  };
  StringRef rule =
      options.readsInitialWeights() ? StringRef() : options.model.init;
  FailureOr<Initializers> chosen =
      chooseInitializers(*module, rule, hasWeights);
  if (failed(chosen))
    return failure();
  initializers = std::move(*chosen);
  warnOfNotFinite();
  return success();
}
