//===- InputShapes.cpp - static shapes of graph inputs --------------------===//
//
// A dynamic dimension has the name that the model gives it, or INPUT[INDEX].
// `--batch` sets the dimensions named as a batch, else dimension 0.
//
//===----------------------------------------------------------------------===//

#include "InputShapes.h"
#include "Problem.h"
#include "ShapeRules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <set>

using namespace llvm;

namespace dtc::frontend {

namespace {
struct Dimension {
  std::string name; ///< empty when static
  int64_t size = 0;
  bool isDynamic() const { return !name.empty(); }
};

SmallVector<Dimension> readDimensions(const onnx::ValueInfoProto &input) {
  SmallVector<Dimension> result;
  for (auto [i, dim] : enumerate(input.type().tensor_type().shape().dim())) {
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      result.push_back({"", dim.dim_value()});
    else if (!dim.dim_param().empty())
      result.push_back({dim.dim_param()});
    else
      result.push_back({input.name() + "[" + std::to_string(i) + "]"});
  }
  return result;
}

bool isBatchName(StringRef name) {
  return is_contained({"batch", "batch_size", "batchsize", "n", "b"},
                      name.lower());
}

class ShapeResolver {
public:
  ShapeResolver(const Model &model, const ImportOptions &options,
                std::vector<ImportIssue> &issues)
      : model(model), options(options), issues(issues), sizes(options.dims) {}

  StringMap<Shape> run();

private:
  /// An initializer is the default of an input: it needs no shape here.
  bool isData(const onnx::ValueInfoProto &input) const {
    return !model.initializers.contains(input.name());
  }
  void issue(const Twine &reason, const Twine &advice) {
    issues.push_back({"", "", reason.str(), advice.str()});
  }
  void collectNames();
  void applyBatch();

  const Model &model;
  const ImportOptions &options;
  std::vector<ImportIssue> &issues;
  std::map<std::string, int64_t> sizes;
  std::set<std::string> names, batchNames;
};

void ShapeResolver::collectNames() {
  for (const auto &input : model.graph().input()) {
    if (!isData(input))
      continue;
    for (const Dimension &dim : readDimensions(input)) {
      if (!dim.isDynamic())
        continue;
      names.insert(dim.name);
      if (isBatchName(dim.name))
        batchNames.insert(dim.name);
    }
  }
  if (batchNames.empty())
    for (const auto &input : model.graph().input()) {
      auto dims = readDimensions(input);
      if (isData(input) && !dims.empty() && dims.front().isDynamic())
        batchNames.insert(dims.front().name);
    }
  for (const auto &[name, size] : options.dims)
    if (!names.count(name)) {
      std::string known;
      for (const std::string &other : names)
        known += (known.empty() ? "" : ", ") + other;
      issue("--dim " + name + ": no input has a dynamic dimension of this name",
            known.empty() ? Twine("all dimensions are static")
                          : "dynamic dimensions are " + Twine(known));
    } else if (size <= 0) {
      issue("--dim " + name + "=" + Twine(size) + " is not a size",
            "expected a positive number");
    }
}

void ShapeResolver::applyBatch() {
  if (!options.batch)
    return;
  int64_t batch = *options.batch;
  if (batch <= 0)
    return issue("--batch " + Twine(batch) + " is not a size",
                 "expected a positive number");
  for (const std::string &name : batchNames) {
    auto [it, isNew] = sizes.try_emplace(name, batch);
    if (!isNew && it->second != batch)
      issue("--batch " + Twine(batch) + " and --dim " + name + "=" +
                Twine(it->second) + " differ",
            "they are the same dimension; give one of them");
  }
  if (!batchNames.empty())
    return;
  // A fixed batch is changed later (ScaleBatch), where it can be followed: one
  // row is no batch that could be told from other dimensions of size 1.
  std::set<int64_t> fixed;
  for (const auto &input : model.graph().input())
    if (auto dims = readDimensions(input); isData(input) && !dims.empty())
      fixed.insert(dims.front().size);
  for (const auto &input : model.graph().input()) {
    auto dims = readDimensions(input);
    if (!isData(input) || dims.empty())
      continue;
    int64_t rows = dims.front().size;
    if (rows != batch && (rows == 1 || fixed.size() > 1))
      issue("input '" + input.name() + "' has " + Twine(rows) +
                (rows == 1 ? " row" : " rows") +
                " fixed in the model, --batch asks for " + Twine(batch),
            "export with a dynamic batch dimension");
  }
}

StringMap<Shape> ShapeResolver::run() {
  collectNames();
  applyBatch();
  StringMap<Shape> result;
  std::set<std::string> reported;
  for (const auto &input : model.graph().input()) {
    if (!isData(input))
      continue;
    if (!input.type().has_tensor_type()) {
      issue("input '" + input.name() + "' is no tensor",
            "sequences, maps and optional values are not supported");
      continue;
    }
    if (!input.type().tensor_type().has_shape()) {
      issue("input '" + input.name() + "' has no shape, not even a rank",
            "export with shapes, or run onnx shape inference");
      continue;
    }
    Shape shape;
    bool complete = true;
    for (auto [i, dim] : enumerate(readDimensions(input))) {
      int64_t size = dim.size;
      if (dim.isDynamic()) {
        auto it = sizes.find(dim.name);
        size = it == sizes.end() ? 0 : it->second;
        if (it == sizes.end() && reported.insert(dim.name).second)
          issue("dimension " + Twine(i) + " of input '" + input.name() +
                    "' is dynamic ('" + dim.name + "')",
                batchNames.count(dim.name)
                    ? "give it a size with --batch N"
                    : "give it a size with --dim '" + dim.name + "=N'");
      } else if (size == 0) {
        issue("dimension " + Twine(i) + " of input '" + input.name() +
                  "' has size 0",
              "expected a positive size");
      }
      complete &= size > 0;
      shape.push_back(size);
    }
    if (Error error = requirePossible(shape))
      issue("input '" + input.name() +
                "': " + takeProblem(std::move(error)).reason,
            "");
    else if (complete)
      result[input.name()] = shape;
  }
  return result;
}
} // namespace

StringMap<Shape> resolveInputShapes(const Model &model,
                                    const ImportOptions &options,
                                    std::vector<ImportIssue> &issues) {
  return ShapeResolver(model, options, issues).run();
}

} // namespace dtc::frontend
