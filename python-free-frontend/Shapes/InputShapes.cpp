//===- InputShapes.cpp - static shapes of graph inputs --------------------===//
//
// A dynamic dimension has the name that the model gives it, or INPUT[INDEX].
// `--batch` sets the dimensions that are named as a batch, else those of
// `--batch-dim`, else dimension 0.
//
//===----------------------------------------------------------------------===//

#include "Shapes/InputShapes.h"
#include "Shapes/ShapeRules.h"
#include "Support/Problem.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

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
  ShapeResolver(const onnx::GraphProto &graph, const ImportOptions &options,
                std::vector<ImportIssue> &issues)
      : graph(graph), options(options), issues(issues), sizes(options.dims) {
    for (const auto &tensor : graph.initializer())
      initializers.insert(tensor.name());
  }

  StringMap<Shape> run();

private:
  /// Whether an input needs a shape. An initializer of the same name is its
  /// default value, so it needs none.
  bool isData(const onnx::ValueInfoProto &input) const {
    return !initializers.contains(input.name());
  }
  void issue(const Twine &reason, const Twine &advice) {
    issues.push_back({"", "", reason.str(), advice.str()});
  }
  void collectNames();
  void checkBatchDims();
  void applyBatch();
  std::string findInput(StringRef name) const;
  std::string listRows() const;
  /// Nothing if the input lacks this dimension.
  std::optional<Dimension> getBatch(const onnx::ValueInfoProto &input) const;

  const onnx::GraphProto &graph;
  const ImportOptions &options;
  std::vector<ImportIssue> &issues;
  std::map<std::string, int64_t> sizes;
  std::set<std::string> names, batchNames;
  StringSet<> initializers;
};

void ShapeResolver::collectNames() {
  for (const auto &input : graph.input()) {
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
  if (batchNames.empty() || !options.batchDims.empty())
    for (const auto &input : graph.input())
      if (auto dim = getBatch(input); dim && dim->isDynamic())
        batchNames.insert(dim->name);
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

std::optional<Dimension>
ShapeResolver::getBatch(const onnx::ValueInfoProto &input) const {
  SmallVector<Dimension> dims = readDimensions(input);
  size_t number = findBatchDim(input, options);
  if (!isData(input) || number >= dims.size())
    return std::nullopt;
  return dims[number];
}

void ShapeResolver::checkBatchDims() {
  for (const auto &[name, dim] : options.batchDims) {
    if (name.empty()) {
      auto hasDim = [&, number = dim](const auto &input) {
        return isData(input) && readDimensions(input).size() > size_t(number);
      };
      if (none_of(graph.input(), hasDim))
        issue("--batch-dim " + Twine(dim) + ": no input has so many dimensions",
              "dimensions are counted from 0");
      continue;
    }
    auto input = find_if(graph.input(),
                         [&, wanted = StringRef(name)](const auto &input) {
                           return isData(input) && input.name() == wanted;
                         });
    std::string option = "--batch-dim " + name + "=" + std::to_string(dim);
    if (input == graph.input().end())
      issue(option + ": the model has no input of this name",
            "expected NAME=K or K, dimensions counted from 0");
    else if (!getBatch(*input))
      issue(option + ": the input has " + Twine(readDimensions(*input).size()) +
                " dimensions",
            "dimensions are counted from 0");
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
    if (isNew || it->second == batch)
      continue;
    std::string both = "--batch " + std::to_string(batch) + " and --dim " +
                       name + "=" + std::to_string(it->second) + " differ";
    if (isBatchName(name))
      issue(both, "both set the same dimension; give one of them");
    else
      issue(both + ", and '" + name + "' is the first dimension of input '" +
                findInput(name) + "'",
            "dtc takes the first dimension of each input as the batch; name "
            "another one with --batch-dim, or export inputs without a batch as "
            "constants");
  }
  if (!batchNames.empty())
    return;
  // ScaleBatch changes a fixed batch later, where it can follow the dimension.
  // It cannot do so for a batch of 1, since other dimensions have size 1, too.
  std::set<int64_t> fixed;
  for (const auto &input : graph.input())
    if (auto dim = getBatch(input))
      fixed.insert(dim->size);
  for (const auto &input : graph.input()) {
    auto dim = getBatch(input);
    if (!dim)
      continue;
    if (dim->size == 1 && batch != 1)
      issue("input '" + input.name() +
                "' has a fixed batch of 1, --batch asks for " + Twine(batch),
            "export with a dynamic batch dimension");
    else if (dim->size != batch && fixed.size() > 1)
      return issue(
          "inputs have first dimensions of different sizes (" + listRows() +
              "), so dtc cannot tell which is the batch",
          "dtc takes the first dimension of each input as the batch; "
          "name another one with --batch-dim, or export inputs without "
          "a batch, such as the edges of a graph, as constants");
  }
}

/// The first input whose batch is a dimension of this name.
std::string ShapeResolver::findInput(StringRef name) const {
  for (const auto &input : graph.input())
    if (auto dim = getBatch(input); dim && dim->name == name)
      return input.name();
  return "";
}

/// Formats the sizes of the batch dimensions: "'x' 10, 'edges' 2".
std::string ShapeResolver::listRows() const {
  std::string list;
  for (const auto &input : graph.input())
    if (auto dim = getBatch(input))
      list += (list.empty() ? "'" : ", '") + input.name() + "' " +
              std::to_string(dim->size);
  return list;
}

StringMap<Shape> ShapeResolver::run() {
  collectNames();
  checkBatchDims();
  applyBatch();
  StringMap<Shape> result;
  std::set<std::string> reported;
  for (const auto &input : graph.input()) {
    if (!isData(input))
      continue;
    if (!input.type().has_tensor_type()) {
      issue("input '" + input.name() + "' is not a tensor",
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

StringMap<Shape> resolveInputShapes(const onnx::GraphProto &graph,
                                    const ImportOptions &options,
                                    std::vector<ImportIssue> &issues) {
  return ShapeResolver(graph, options, issues).run();
}

int64_t findBatchDim(const onnx::ValueInfoProto &input,
                     const ImportOptions &options) {
  SmallVector<Dimension> dims = readDimensions(input);
  if (auto own = options.batchDims.find(input.name());
      own != options.batchDims.end())
    return own->second;
  if (auto all = options.batchDims.find("");
      all != options.batchDims.end() && all->second < int64_t(dims.size()))
    return all->second;
  auto named =
      find_if(dims, [](const Dimension &dim) { return isBatchName(dim.name); });
  return named == dims.end() ? 0 : named - dims.begin();
}

} // namespace dtc::frontend
