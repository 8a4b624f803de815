//===- TrainFixture.h - whole training programs -----------------*- C++ -*-===//
//
// Runs the TinyProgram executables of several plans and compares their files.
// TINY_DIRECTORY is their folder.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_UNITTESTS_RUNTIME_TRAINFIXTURE_H
#define DTC_UNITTESTS_RUNTIME_TRAINFIXTURE_H

#include "Checkpoint/Safetensors.h"
#include "Core/Random.h"
#include "TemporaryDirectory.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

namespace dtc::rt {

struct ProgramOutcome {
  int status;
  std::string output; ///< both streams
};

/// The number of times that `text` is in the output.
inline int countLines(const std::string &output, const std::string &text) {
  int lines = 0;
  for (size_t at = 0; (at = output.find(text, at)) != std::string::npos; ++at)
    ++lines;
  return lines;
}

/// The objects of a file of metrics; the first says what run it is.
inline std::vector<nlohmann::json> readMetrics(const std::string &path) {
  std::vector<nlohmann::json> lines;
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(nlohmann::json::parse(line));
  return lines;
}

class Train : public testing::Test {
protected:
  TemporaryDirectory folder;

  Train() {
    std::filesystem::create_directory(folder / "data");
    writeData(40, 40);
  }

  /// With a `period`, only its samples after `first`, again and again.
  void writeData(int64_t samples, int64_t labels, int64_t first = 0,
                 int64_t period = 0) {
    std::vector<double> x(size_t(samples * 6)), y(size_t(labels * 3));
    RandomStream(1, RandomUse::input, 0)
        .fillNormal(DTC_F64, x.data(), samples * 6, 1);
    RandomStream(1, RandomUse::input, 1)
        .fillNormal(DTC_F64, y.data(), labels * 3, 1);
    auto repeat = [&](std::vector<double> &values, int64_t width) {
      std::vector<double> all = values;
      for (int64_t i = 0; period && i < int64_t(values.size()); ++i)
        values[size_t(i)] =
            all[size_t((first + i / width % period) * width + i % width)];
    };
    repeat(x, 6);
    repeat(y, 3);
    auto shape = [](int64_t n, int m) {
      return "(" + std::to_string(n) + ", " + std::to_string(m) + ")";
    };
    folder.writeNpy("data/x.npy", "'<f8'", shape(samples, 6), x.data(),
                    x.size() * 8);
    folder.writeNpy("data/labels.npy", "'<f8'", shape(labels, 3), y.data(),
                    y.size() * 8);
  }

  ProgramOutcome run(const std::string &plan, const std::string &arguments,
                     const std::string &prefix = "") {
    std::string log = folder / "log";
    std::string command = prefix + " " TINY_DIRECTORY "/tiny-" + plan + " " +
                          arguments + " > " + log + " 2>&1 < /dev/null";
    int status = system(command.c_str()); // NOLINT(bugprone-command-processor)
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, readFile(log)};
  }

  /// Trains with --nproc and returns the metrics, one object per step and one
  /// per evaluation.
  std::vector<nlohmann::json> train(const std::string &plan, int ranks,
                                    const std::string &arguments = "",
                                    size_t expectedLines = 12) {
    std::string metrics = folder / (plan + ".jsonl");
    ProgramOutcome result =
        run(plan, "--data " + folder / "data" + " --nproc " +
                      std::to_string(ranks) + " --steps 12 --metrics " +
                      metrics + " --save-weights " +
                      folder / (plan + ".safetensors") + " " + arguments);
    EXPECT_EQ(result.status, 0) << result.output;
    std::vector<nlohmann::json> lines = readMetrics(metrics);
    EXPECT_EQ(lines.size(), expectedLines + 1);
    lines.erase(lines.begin());
    return lines;
  }

  /// The largest difference between two files of f64 tensors.
  double difference(const std::string &left, const std::string &right) {
    std::string a = readFile(folder / left), b = readFile(folder / right);
    SafetensorsReader one(left, a), other(right, b);
    EXPECT_EQ(one.tensors().size(), 2u);
    double largest = 0;
    for (auto &[name, tensor] : one.tensors()) {
      const auto *match = other.find(name);
      if (!match || match->shape != tensor.shape)
        return INFINITY;
      for (int64_t i = 0; i < elementCount(tensor.shape); ++i) {
        double x, y;
        memcpy(&x, tensor.data + i * 8, 8);
        memcpy(&y, match->data + i * 8, 8);
        largest = std::max(largest, std::abs(x - y));
      }
    }
    return largest;
  }
};

} // namespace dtc::rt

#endif // DTC_UNITTESTS_RUNTIME_TRAINFIXTURE_H
