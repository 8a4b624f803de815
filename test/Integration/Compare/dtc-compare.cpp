//===- dtc-compare.cpp - judge of the integration tests -------------------===//
//
// Compares what a training program wrote (gradients, weights, metrics) with
// another run or with the PyTorch references in test/Inputs. Prints the worst
// deviation as a multiple of what is allowed; exits 1 when above.
//
//===----------------------------------------------------------------------===//

#include "Fingerprint.h"
#include "Tensors.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

using namespace dtc::compare;
using nlohmann::json;

namespace {

/// Every tensor may deviate by this times min(1, N), beside its relative
/// tolerance. N is the norm of the tensors that differ.
constexpr double noiseFloor = 1e-12;
const char *const floorHelp =
    "A tensor may deviate by tolerance * its norm + 1e-12 * min(1, N). N is "
    "the norm of all tensors that differ: equal ones do not count, whatever "
    "their size. The second term lets a gradient that is zero in truth be "
    "rounding noise.";

/// Sums the norm of the tensors that differ.
class NoiseFloor {
public:
  void addDifferent(double norm) { squares += norm * norm; }
  double get() const { return noiseFloor * std::min(1.0, std::sqrt(squares)); }

private:
  double squares = 0;
};

/// Keeps the worst of many comparisons.
class Verdict {
public:
  /// A NaN on either side is worse than everything, and so is a difference
  /// to which no finite bound is known.
  void add(const std::string &what, double deviation, double allowed) {
    ++count;
    double ratio = deviation == 0 ? 0 : INFINITY;
    if (std::isfinite(deviation) && std::isfinite(allowed) && allowed > 0)
      ratio = deviation / allowed;
    if (count > 1 && ratio <= worst)
      return;
    worst = ratio;
    worstName = what;
  }

  /// Returns the exit status.
  int report(const std::string &subject) const {
    if (count == 0)
      throw std::runtime_error("nothing to compare");
    bool good = worst <= 1;
    std::printf("%s: %s: worst of %zu is %s at %.3g of what is allowed\n",
                good ? "ok" : "FAIL", subject.c_str(), count, worstName.c_str(),
                worst);
    return good ? 0 : 1;
  }

private:
  size_t count = 0;
  double worst = 0;
  std::string worstName;
};

json readJson(const std::string &path) {
  std::ifstream stream(path);
  if (!stream)
    throw std::runtime_error("cannot open '" + path + "'");
  return json::parse(stream);
}

/// The lines of steps, or those of evaluations; not that of the run.
std::vector<json> readMetrics(const std::string &path,
                              bool evaluations = false) {
  std::ifstream stream(path);
  if (!stream)
    throw std::runtime_error("cannot open '" + path + "'");
  std::vector<json> lines;
  for (std::string text; std::getline(stream, text);) {
    json line = json::parse(text);
    if (line.contains("step") && line.contains("eval_loss") == evaluations)
      lines.push_back(std::move(line));
  }
  return lines;
}

const Tensor &find(const Tensors &tensors, const std::string &name,
                   const std::vector<int64_t> *shape = nullptr) {
  auto it = tensors.find(name);
  if (it == tensors.end())
    throw std::runtime_error("tensor '" + name + "' is missing");
  if (shape && it->second.shape != *shape)
    throw std::runtime_error("tensor '" + name + "' has another shape");
  return it->second;
}

/// Every tensor of `found` is one that `isExpected` knows.
template <typename Predicate>
void refuseOthers(const Tensors &found, Predicate isExpected) {
  for (const auto &entry : found)
    if (!isExpected(entry.first))
      throw std::runtime_error("unexpected tensor '" + entry.first + "'");
}

struct Options {
  std::string found, expected, reference, stored, key, prefix;
  double tolerance = 1e-10;
  double normTolerance = 0;
  double factor = 4;
  double below = 0;
  size_t first = 1, last = 1;
};

Fingerprint readFingerprint(const json &print) {
  return {print.at("sum").get<double>(), print.at("norm").get<double>(),
          print.at("dot").get<double>()};
}

/// Two files of tensors, each tensor to a relative tolerance.
int compareTensors(const Options &options) {
  Tensors found = readTensors(options.found);
  Tensors expected = readTensors(options.expected, options.prefix);
  refuseOthers(found, [&](auto &name) { return expected.count(name) != 0; });
  NoiseFloor floor;
  for (const auto &[name, tensor] : expected)
    if (find(found, name, &tensor.shape).values != tensor.values)
      floor.addDifferent(norm(tensor));
  Verdict verdict;
  for (const auto &[name, tensor] : expected)
    verdict.add(name, distance(found.at(name), tensor),
                options.tolerance * norm(tensor) + floor.get());
  return verdict.report(options.found);
}

/// Tensors against the fingerprints of NAME.losses.json and, where stored,
/// the tensors themselves. A deviation d changes the dot product by about
/// |d|, and the sum by at most |d| sqrt(elements).
int compareReference(const Options &options) {
  Tensors found = readTensors(options.found);
  json all =
      readJson(options.reference).at(json::json_pointer("/" + options.key));
  json prints = json::object();
  for (const auto &[name, print] : all.items())
    if (name.compare(0, options.prefix.size(), options.prefix) == 0)
      prints[name.substr(options.prefix.size())] = print;
  refuseOthers(found, [&](auto &name) { return prints.contains(name); });
  NoiseFloor floor;
  for (const auto &[name, print] : prints.items())
    if (fingerprint(find(found, name)) != readFingerprint(print))
      floor.addDifferent(readFingerprint(print).norm);
  Verdict verdict;
  for (const auto &[name, print] : prints.items()) {
    const Tensor &tensor = find(found, name);
    Fingerprint actual = fingerprint(tensor);
    Fingerprint expected = readFingerprint(print);
    double allowed = options.tolerance * expected.norm + floor.get();
    verdict.add(name + " (norm)", std::abs(actual.norm - expected.norm),
                allowed);
    verdict.add(name + " (dot)", std::abs(actual.dot - expected.dot), allowed);
    verdict.add(name + " (sum)", std::abs(actual.sum - expected.sum),
                allowed * std::sqrt(double(tensor.values.size())));
  }
  if (!options.stored.empty())
    for (const auto &[name, tensor] :
         readTensors(options.stored, options.prefix))
      verdict.add(name, distance(find(found, name, &tensor.shape), tensor),
                  options.tolerance * norm(tensor) + floor.get());
  return verdict.report(options.found);
}

/// f32 gradients against f64 ones: the error is at most `factor` times that
/// of PyTorch, of the same tensor or, where that is larger, of all together.
int comparePrecision(const Options &options) {
  Tensors found = readTensors(options.found);
  Tensors expected = readTensors(options.expected);
  json peer = readJson(options.reference).at("f32_gradient_error");
  refuseOthers(found, [&](auto &name) { return expected.count(name) != 0; });
  auto overall = peer.at("all").get<double>();
  Verdict verdict;
  double squares = 0;
  for (const auto &[name, tensor] : expected) {
    double error = distance(find(found, name, &tensor.shape), tensor);
    squares += error * error;
    double allowed =
        std::max(overall, peer.at("tensors").at(name).get<double>());
    verdict.add(name, error, options.factor * allowed * norm(tensor));
  }
  verdict.add("all tensors together", std::sqrt(squares),
              options.factor * overall * norm(expected));
  return verdict.report(options.found);
}

/// Losses and gradient norms of a metrics file against NAME.losses.json.
int compareLosses(const Options &options) {
  std::vector<json> steps = readMetrics(options.found);
  json run =
      readJson(options.reference).at(json::json_pointer("/" + options.key));
  Verdict verdict;
  if (steps.size() > run.at("loss").size())
    throw std::runtime_error("more steps than the reference has");
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].at("step").get<size_t>() != i + 1)
      throw std::runtime_error("metrics skip step " + std::to_string(i + 1));
    auto compare = [&](const char *field, double tolerance) {
      double expected = run.at(field).at(i).get<double>();
      verdict.add(std::string(field) + " of step " + std::to_string(i + 1),
                  std::abs(steps[i].at(field).get<double>() - expected),
                  tolerance * std::abs(expected));
    };
    compare("loss", options.tolerance);
    compare("grad_norm",
            options.normTolerance ? options.normTolerance : options.tolerance);
  }
  return verdict.report(options.found);
}

/// Evaluations of a metrics file against evaluation.json: the same steps, the
/// same fields, and accuracy exactly.
int compareEvaluations(const Options &options) {
  std::vector<json> found = readMetrics(options.found, /*evaluations=*/true);
  json run =
      readJson(options.reference).at(json::json_pointer("/" + options.key));
  if (found.size() != run.at("step").size())
    throw std::runtime_error("found " + std::to_string(found.size()) +
                             " evaluations, expected " +
                             std::to_string(run.at("step").size()));
  Verdict verdict;
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].size() != run.size())
      throw std::runtime_error("unexpected fields in " + found[i].dump());
    for (const auto &[field, values] : run.items()) {
      auto expected = values.at(i).get<double>();
      bool isExact =
          field == "step" || field == "eval_accuracy" || field == "eval_top5";
      verdict.add(field + " after step " + found[i].at("step").dump(),
                  std::abs(found[i].at(field).get<double>() - expected),
                  isExact ? 0 : options.tolerance * std::abs(expected));
    }
  }
  return verdict.report(options.found);
}

/// An .npy array of f64, row by row: each row is a list of numbers in the
/// reference.
int comparePredictions(const Options &options) {
  std::ifstream stream(options.found, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  json rows =
      readJson(options.reference).at(json::json_pointer("/" + options.key));
  std::string shape = "'shape': (" + std::to_string(rows.size()) + "," +
                      std::to_string(rows.at(0).size()) + ",)";
  size_t end = bytes.find('\n');
  std::string header = bytes.substr(0, end);
  if (header.find("'descr': '<f8'") == std::string::npos ||
      header.find(shape) == std::string::npos)
    throw std::runtime_error("expected an array of f64 with " + shape);
  if (bytes.size() != end + 1 + rows.size() * rows.at(0).size() * 8)
    throw std::runtime_error("the file has another size than its shape");
  const char *at = bytes.data() + end + 1;
  Verdict verdict;
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < rows.at(i).size(); ++j, at += 8) {
      double found, expected = rows.at(i).at(j).get<double>();
      std::memcpy(&found, at, 8);
      verdict.add("row " + std::to_string(i) + ", column " + std::to_string(j),
                  std::abs(found - expected), options.tolerance);
    }
  return verdict.report(options.found);
}

/// The mean loss of steps first..last is below a bound.
int checkMean(const Options &options) {
  std::vector<json> steps = readMetrics(options.found);
  if (options.first == 0 || options.first > options.last ||
      options.last > steps.size())
    throw std::runtime_error("found " + std::to_string(steps.size()) +
                             " steps, expected " +
                             std::to_string(options.last));
  double sum = 0;
  for (size_t i = options.first - 1; i < options.last; ++i)
    sum += steps[i].at("loss").get<double>();
  double mean = sum / double(options.last - options.first + 1);
  bool good = mean < options.below;
  std::printf("%s: mean loss of steps %zu to %zu is %.4f, bound %.4f\n",
              good ? "ok" : "FAIL", options.first, options.last, mean,
              options.below);
  return good ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("compares gradients, weights and losses of training runs");
  app.require_subcommand(1);
  Options options;
  int (*command)(const Options &) = nullptr;
  auto add = [&](const char *name, const char *description,
                 int (*function)(const Options &)) {
    CLI::App *sub = app.add_subcommand(name, description);
    sub->add_option("found", options.found, "file of the run")->required();
    sub->callback([&command, function] { command = function; });
    return sub;
  };
  auto addTolerance = [&](CLI::App *sub) {
    sub->add_option("--tolerance", options.tolerance, "relative tolerance");
  };
  auto addPrefix = [&](CLI::App *sub) {
    sub->add_option("--prefix", options.prefix,
                    "of the names in the reference, as step1/");
  };

  CLI::App *tensors =
      add("tensors", "with another safetensors file", compareTensors);
  tensors->add_option("expected", options.expected)->required();
  addTolerance(tensors);
  tensors->footer(floorHelp);
  addPrefix(tensors);

  CLI::App *reference =
      add("reference", "with the fingerprints of PyTorch", compareReference);
  reference->add_option("losses.json", options.reference)->required();
  reference->add_option("key", options.key, "gradients or weights")->required();
  reference->add_option("--stored", options.stored,
                        "safetensors file of the tensors kept in full");
  addTolerance(reference);
  reference->footer(floorHelp);
  addPrefix(reference);

  CLI::App *precision =
      add("precision", "f32 gradients with f64 ones", comparePrecision);
  precision->add_option("expected", options.expected)->required();
  precision->add_option("losses.json", options.reference)->required();
  precision->add_option("--factor", options.factor, "times PyTorch's error");

  CLI::App *losses =
      add("losses", "metrics with PyTorch's losses and norms", compareLosses);
  losses->add_option("losses.json", options.reference)->required();
  losses->add_option("key", options.key, "as sgd/f64")->required();
  addTolerance(losses);
  losses->add_option("--norm-tolerance", options.normTolerance,
                     "of the gradient norms, where it is another");

  CLI::App *evaluations =
      add("evaluations", "metrics with PyTorch's", compareEvaluations);
  evaluations->add_option("evaluation.json", options.reference)->required();
  evaluations->add_option("key", options.key, "as gpt2-tiny")->required();
  addTolerance(evaluations);

  CLI::App *predictions =
      add("predictions", "an array with PyTorch's outputs", comparePredictions);
  predictions->add_option("evaluation.json", options.reference)->required();
  predictions->add_option("key", options.key, "as sizes/outputs")->required();
  addTolerance(predictions);

  CLI::App *mean = add("mean", "the mean loss of some steps", checkMean);
  mean->add_option("--first", options.first)->required();
  mean->add_option("--last", options.last)->required();
  mean->add_option("--below", options.below)->required();

  CLI11_PARSE(app, argc, argv);
  try {
    return command(options);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "dtc-compare: error: %s: %s\n", options.found.c_str(),
                 error.what());
    return 1;
  }
}
