//===- MetricsFile.cpp - a JSON object for each step ----------------------===//

#include "MetricsFile.h"

#include "Core/Entropy.h"
#include "Core/Error.h"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

using namespace dtc::rt;

/// The version of the format. It increases when a key changes its meaning or is
/// removed; new keys do not count.
constexpr int metricsSchema = 1;

/// An identifier that differs between all starts of trainings.
static std::string makeRunId() {
  return format("%016llx", (unsigned long long)drawEntropy());
}

static std::string describeRun(const Program &program, const Options &options,
                               std::optional<int64_t> resumedAtStep) {
  nlohmann::ordered_json mesh = nlohmann::ordered_json::object();
  for (const Mesh::Axis &axis : program.mesh.axes)
    mesh[axis.name] = axis.size;
  nlohmann::ordered_json line = {{"schema", metricsSchema},
                                 {"run", makeRunId()},
                                 {"program", options.name},
                                 {"model", program.model},
                                 {"plan",
                                  {{"mesh", mesh},
                                   {"microbatches", program.microbatches},
                                   {"batch", program.globalBatch},
                                   {"dtype", program.dtype},
                                   {"optimizer", program.optimizer}}},
                                 {"options", options.arguments},
                                 {"resumed_at_step", nullptr}};
  if (resumedAtStep)
    line["resumed_at_step"] = *resumedAtStep;
  // Arguments of a command line need not be UTF-8.
  return line.dump(-1, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

/// Renames a file that is not empty to the first free name. Returns a note
/// about it.
static std::string rotate(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) ||
      std::filesystem::file_size(path, error) == 0)
    return {};
  std::string former;
  for (int i = 1; former.empty() || std::filesystem::exists(former, error); ++i)
    former = format("%s.%d", path.c_str(), i);
  std::filesystem::rename(path, former, error);
  if (error)
    fail("cannot rename '%s' to '%s': %s", path.c_str(), former.c_str(),
         error.message().c_str());
  return format("the metrics that were in '%s' are now in '%s'", path.c_str(),
                former.c_str());
}

MetricsFile::MetricsFile(const Program &program, const Options &options,
                         std::optional<int64_t> resumedAtStep) {
  if (options.metrics.empty())
    return;
  if (!resumedAtStep)
    formerNote = rotate(options.metrics);
  file = RecordFile(options.metrics, resumedAtStep.has_value());
  file.begin(describeRun(program, options, resumedAtStep));
}

static char *appendField(char *at, char *end, const char *name, double value) {
  at += snprintf(at, size_t(end - at), ", \"%s\": ", name);
  if (!std::isfinite(value))
    return at + snprintf(at, size_t(end - at), "null");
  return std::to_chars(at, end, value).ptr;
}

template <typename Metrics>
std::string MetricsFile::writeLine(const Metrics &metrics) {
  if (!file.isOpen())
    return {};
  char line[1024], *end = line + sizeof line - 2;
  char *at = line + snprintf(line, sizeof line, "{\"step\": %lld",
                             (long long)metrics.step);
  forEachNumber(metrics, [&](const char *key, const char *, double value) {
    at = appendField(at, end, key, value);
  });
  *at++ = '}';
  *at++ = '\n';
  return file.write({line, size_t(at - line)}, metrics.step);
}

std::string MetricsFile::write(const StepMetrics &metrics) {
  return writeLine(metrics);
}

std::string MetricsFile::write(const EvalMetrics &metrics) {
  return writeLine(metrics);
}
