//===- ParameterInputs.cpp - graph inputs that are parameters -------------===//
//
// See ParameterInputs.h.
//
//===----------------------------------------------------------------------===//

#include "Parameters/ParameterInputs.h"
#include "Support/Glob.h"
#include "Support/NameList.h"
#include "Support/TensorData.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dtc::frontend {

/// Whether an input can be a parameter: a float without a default value.
static bool isCandidate(const Model &model, const onnx::ValueInfoProto &input) {
  std::optional<DType> dtype = toDType(input.type().tensor_type().elem_type());
  return dtype && isFloat(*dtype) && !model.initializers.contains(input.name());
}

static bool isDynamic(const onnx::ValueInfoProto &input) {
  return any_of(input.type().tensor_type().shape().dim(),
                [](const auto &dim) { return !dim.has_dim_value(); });
}

bool isParameterInput(const Model &model, const onnx::ValueInfoProto &input,
                      const ImportOptions &options) {
  return isCandidate(model, input) &&
         any_of(options.parameters, [&](StringRef pattern) {
           return matchesGlob(pattern, input.name());
         });
}

bool isKeptInitializer(StringRef name, const ImportOptions &options) {
  return any_of(options.kept,
                [&](StringRef pattern) { return matchesGlob(pattern, name); });
}

bool isParameterInitializer(StringRef name, const ImportOptions &options) {
  return any_of(options.parameters,
                [&](StringRef pattern) { return matchesGlob(pattern, name); });
}

void checkParameterInputs(const Model &model, const ImportOptions &options,
                          std::vector<ImportIssue> &issues) {
  if (options.parameters.empty())
    return;
  std::vector<std::string> candidates;
  for (const auto &input : model.graph().input())
    if (isCandidate(model, input) && !isDynamic(input))
      candidates.push_back(input.name());
  std::string advice =
      candidates.empty()
          ? "the model has no floating-point input with a static shape; "
            "initializers are parameters without --parameter"
          : "possible parameters are " + listFirstNames(candidates);
  for (StringRef pattern : options.parameters) {
    bool matchesAny = any_of(model.initializers, [&](const auto &entry) {
      return matchesGlob(pattern, entry.first()) && isFloatTensor(entry.second);
    });
    for (const auto &input : model.graph().input()) {
      if (!isCandidate(model, input) || !matchesGlob(pattern, input.name()))
        continue;
      matchesAny = true;
      // Only data have dimensions that are unknown before training.
      if (isDynamic(input))
        issues.push_back(
            {"", "",
             ("--parameter '" + pattern + "' matches input '" + input.name() +
              "', which is data because its shape is dynamic")
                 .str(),
             advice});
    }
    if (!matchesAny)
      issues.push_back({"", "",
                        ("--parameter '" + pattern +
                         "' matches no floating-point input or "
                         "initializer")
                            .str(),
                        advice});
  }
  if (issues.empty() && all_of(model.graph().input(), [&](const auto &input) {
        return model.initializers.contains(input.name()) ||
               isParameterInput(model, input, options);
      }))
    issues.push_back({"", "",
                      "--parameter matches all inputs of the model, so no data "
                      "is left to train on",
                      "match only inputs that are parameters"});
}

} // namespace dtc::frontend
