//===- ParameterInputs.cpp - graph inputs that are parameters -------------===//
//
// See ParameterInputs.h.
//
//===----------------------------------------------------------------------===//

#include "Parameters/ParameterInputs.h"
#include "Support/NameList.h"
#include "Support/TensorData.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/GlobPattern.h"

using namespace llvm;

namespace dtc::frontend {

static bool matches(StringRef pattern, StringRef name) {
  Expected<GlobPattern> glob = GlobPattern::create(pattern);
  if (glob)
    return glob->match(name);
  consumeError(glob.takeError());
  return pattern == name;
}

/// A float without a default; no other input can be trained.
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
           return matches(pattern, input.name());
         });
}

bool isParameterInitializer(StringRef name, const ImportOptions &options) {
  return any_of(options.parameters,
                [&](StringRef pattern) { return matches(pattern, name); });
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
          ? "no floating-point input of static shape could be one; "
            "initializers "
            "are parameters without it"
          : "inputs that could be parameters are " + listFirstNames(candidates);
  for (StringRef pattern : options.parameters) {
    bool matchesAny = any_of(model.initializers, [&](const auto &entry) {
      return matches(pattern, entry.first()) && isFloatTensor(entry.second);
    });
    for (const auto &input : model.graph().input()) {
      if (!isCandidate(model, input) || !matches(pattern, input.name()))
        continue;
      matchesAny = true;
      // Only data have dimensions that are not known before training.
      if (isDynamic(input))
        issues.push_back(
            {"", "",
             ("--parameter '" + pattern + "' takes input '" + input.name() +
              "', whose shape is dynamic: it is "
              "data, not a parameter")
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
                      "--parameter takes all inputs of the model, and leaves "
                      "no data to train on",
                      "name only those that are parameters"});
}

} // namespace dtc::frontend
