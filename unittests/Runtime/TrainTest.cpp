//===- TrainTest.cpp - whole training programs, by hand -------------------===//
//
// Runs the TinyProgram executables of several plans and compares what they
// write. TINY_DIRECTORY is where they are.
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/Safetensors.h"
#include "Core/Random.h"
#include "Data/Npy.h"
#include "TemporaryDirectory.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>
#include <sys/wait.h>
#include <thread>

using namespace dtc::rt;

namespace {

struct Outcome {
  int status;
  std::string output; ///< both streams
};

/// Whether `text` is in the output, and on how many lines.
int countLines(const std::string &output, const std::string &text) {
  int lines = 0;
  for (size_t at = 0; (at = output.find(text, at)) != std::string::npos; ++at)
    ++lines;
  return lines;
}

/// The objects of a file of metrics; the first says what run it is.
std::vector<nlohmann::json> readMetrics(const std::string &path) {
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

  Outcome run(const std::string &plan, const std::string &arguments,
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
    Outcome result =
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

} // namespace

TEST_F(Train, EveryPlanTrainsTheSame) {
  auto reference =
      train("pp1-dp1-mb1", 1, "--dump-gradients " + folder / "one");
  EXPECT_LT(double(reference.back()["loss"]), double(reference[0]["loss"]));
  struct {
    const char *plan;
    int ranks;
  } plans[] = {{"pp1-dp1-mb4", 1},
               {"pp1-dp2-mb2", 2},
               {"pp1-dp4-mb1", 4},
               {"pp2-dp1-mb4", 2},
               {"pp2-dp2-mb2", 4}};
  for (auto [plan, ranks] : plans) {
    SCOPED_TRACE(plan);
    auto metrics = train(plan, ranks, "--dump-gradients " + folder / plan);
    for (size_t i = 0; i < metrics.size(); ++i) {
      EXPECT_EQ(metrics[i]["step"], int(i) + 1);
      for (const char *key : {"loss", "grad_norm"})
        EXPECT_NEAR(metrics[i][key], reference[i][key], 1e-13);
      EXPECT_GT(double(metrics[i]["seconds"]), 0);
      EXPECT_GT(double(metrics[i]["samples_per_second"]), 0);
    }
    EXPECT_LT(difference(std::string(plan) + ".safetensors",
                         "pp1-dp1-mb1.safetensors"),
              1e-13);
    for (int step : {1, 2, 12}) {
      std::string name = "/step-" + std::to_string(step) + ".safetensors";
      EXPECT_LT(difference(plan + name, "one" + name), 1e-13);
    }
  }
}

TEST_F(Train, TwoRunsAgreeBitForBit) {
  auto first = train("pp2-dp2-mb2", 4);
  std::string weights = readFile(folder / "pp2-dp2-mb2.safetensors");
  auto second = train("pp2-dp2-mb2", 4);
  for (size_t i = 0; i < first.size(); ++i)
    for (const char *key : {"loss", "grad_norm"})
      EXPECT_EQ(first[i][key].dump(), second[i][key].dump());
  EXPECT_EQ(weights, readFile(folder / "pp2-dp2-mb2.safetensors"));
  auto otherSeed = train("pp2-dp2-mb2", 4, "--seed 1");
  EXPECT_NE(first[0]["loss"], otherSeed[0]["loss"]);
}

TEST_F(Train, EvaluationLeavesTheTrainingAsItIs) {
  auto without = train("pp2-dp2-mb2", 4);
  std::string weights = readFile(folder / "pp2-dp2-mb2.safetensors");
  // With the data that it is trained on, in order: 40 samples, two batches.
  auto lines = train("pp2-dp2-mb2", 4,
                     "--eval-every 5 --eval-data " + folder / "data", 15);
  EXPECT_EQ(weights, readFile(folder / "pp2-dp2-mb2.safetensors"));
  std::vector<int> evaluated;
  std::vector<std::string> losses;
  for (const nlohmann::json &line : lines)
    if (line.contains("eval_loss")) {
      EXPECT_EQ(line.size(), 2u) << "an error has no accuracy";
      evaluated.push_back(line["step"]);
    } else {
      losses.push_back(line["loss"].dump());
    }
  EXPECT_EQ(evaluated, (std::vector<int>{5, 10, 12}));
  ASSERT_EQ(losses.size(), without.size());
  for (size_t i = 0; i < losses.size(); ++i)
    EXPECT_EQ(losses[i], without[i]["loss"].dump());
}

TEST_F(Train, EvaluationCountsEachSampleOnce) {
  // A learning rate of 0: the losses of two steps in order are those of the
  // batches. The last 8 of 40 samples, twice in a batch of 16, have their loss.
  std::string options = "--lr 0 --no-shuffle";
  auto losses = train("pp1-dp1-mb1", 1, options);
  double first = losses[0]["loss"], second = losses[1]["loss"];
  writeData(40, 40, /*first=*/32, /*period=*/8);
  double last = train("pp1-dp1-mb1", 1, options)[0]["loss"];
  writeData(40, 40);
  double mean = (16 * first + 16 * second + 8 * last) / 40;

  options += " --eval-every 12 --eval-data " + folder / "data";
  auto one = train("pp1-dp1-mb1", 1, options, 13);
  EXPECT_NEAR(one[12]["eval_loss"], mean, 1e-13);
  auto limited = train("pp1-dp1-mb1", 1, options + " --eval-batches 1", 13);
  EXPECT_NEAR(limited[12]["eval_loss"], first, 1e-13);
  auto four = train("pp2-dp2-mb2", 4, options + " --eval-train", 14);
  EXPECT_NEAR(four[12]["eval_loss"], mean, 1e-13);
  EXPECT_NEAR(four[13]["train_loss"], mean, 1e-13);
}

TEST_F(Train, EvaluatesWithoutTraining) {
  double loss =
      train("pp1-dp1-mb1", 1, "--eval-every 12 --eval-data " + folder / "data",
            13)[12]["eval_loss"];
  std::string evaluates = "--nproc 4 --evaluate --data " + folder / "data";
  std::string metrics = folder / "m", predicted = folder / "p.npy";
  Outcome result =
      run("pp2-dp2-mb2",
          evaluates + " --init-weights " + folder / "pp1-dp1-mb1.safetensors" +
              " --metrics " + metrics + " --predict " + predicted);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(countLines(result.output, "evaluates 40 samples of '"), 1);
  EXPECT_NEAR(readMetrics(metrics).at(1)["eval_loss"], loss, 1e-13);
  // The errors of the predictions are the loss.
  Npy array(predicted), labels(folder / "data/labels.npy");
  EXPECT_EQ(array.shape(), labels.shape());
  const auto *x = reinterpret_cast<const double *>(array.data());
  const auto *y = reinterpret_cast<const double *>(labels.data());
  double sum = 0;
  for (int i = 0; i < 40 * 3; ++i)
    sum += (x[i] - y[i]) * (x[i] - y[i]);
  EXPECT_NEAR(sum / 120, loss, 1e-13);

  Outcome missing =
      run("pp2-dp2-mb2", evaluates + " --checkpoint-dir " + folder / "none");
  EXPECT_NE(missing.status, 0);
  EXPECT_EQ(countLines(missing.output, "has no whole checkpoint"), 1)
      << missing.output;
  EXPECT_FALSE(std::filesystem::exists(folder / "none"));
}

TEST_F(Train, SyntheticDataDoNotDependOnThePlan) {
  Outcome one = run("pp1-dp1-mb1",
                    "--data synthetic --steps 3 --metrics " + folder / "a");
  Outcome four = run("pp1-dp4-mb1", "--data synthetic --steps 3 --nproc 4 "
                                    "--metrics " +
                                        folder / "b");
  ASSERT_EQ(one.status, 0) << one.output;
  ASSERT_EQ(four.status, 0) << four.output;
  auto left = readMetrics(folder / "a"), right = readMetrics(folder / "b");
  ASSERT_EQ(left.size(), 4u);
  ASSERT_EQ(right.size(), 4u);
  for (int step = 1; step <= 3; ++step)
    EXPECT_NEAR(left[step]["loss"], right[step]["loss"], 1e-13);
}

TEST_F(Train, WrongNumberOfRanks) {
  Outcome alone = run("pp2-dp2-mb2", "--data synthetic");
  EXPECT_EQ(alone.status, 1);
  EXPECT_NE(
      alone.output.find("error: found 1 rank, expected 4 ranks (pp 2 x "
                        "dp 2); start it with: mpirun --oversubscribe -n 4"),
      std::string::npos)
      << alone.output;
  Outcome three = run("pp2-dp2-mb2", "--data synthetic",
                      "mpirun --allow-run-as-root --oversubscribe -n 3");
  EXPECT_NE(three.status, 0);
  EXPECT_EQ(countLines(three.output, "error: found 3 ranks, expected 4"), 1)
      << three.output;
  Outcome asked = run("pp2-dp2-mb2", "--data synthetic --nproc 3");
  EXPECT_EQ(asked.status, 1);
  EXPECT_NE(asked.output.find("expected --nproc 4"), std::string::npos);
}

TEST_F(Train, ErrorsAreOneLineWhateverTheRanks) {
  auto fails = [&](const std::string &arguments, const std::string &text) {
    Outcome result = run("pp1-dp4-mb1", "--nproc 4 --steps 2 " + arguments);
    EXPECT_NE(result.status, 0);
    EXPECT_EQ(countLines(result.output, "error: "), 1) << result.output;
    EXPECT_EQ(countLines(result.output, text), 1) << result.output;
    // Nothing of mpirun's follows it.
    for (const char *words : {"-----", "mpirun", "non-zero"})
      EXPECT_EQ(countLines(result.output, words), 0) << result.output;
  };
  std::string data = "--data " + folder / "data";
  fails("--data /nonexistent", "found no data directory '/nonexistent'");
  fails(data + " --save-weights /nonexistent/w", "cannot create");
  fails(data + " --metrics /nonexistent/m", "cannot create");
  fails(data + " --metrics /dev/full", "No space left on device");
  fails(data + " --metrics " + folder / "m" + " --save-weights " + folder / "m",
        "of --save-weights, which are one file, expected one for each");
  fails(data + " --eval-every 1", "/data/valid', expected one of validation");
  writeData(15, 15);
  fails(data, "has 15 samples, expected at least one global batch of 16");
  writeData(40, 39);
  fails(data, "has 39 samples");
  std::filesystem::remove(folder / "data/labels.npy");
  fails(data, "with the labels, expected f64 of shape [samples, 3]");
  folder.writeNpy("data/x.npy", "'<f8'", "(2, 6, 1)", "", 0);
  fails(data, "truncated");
}

TEST_F(Train, ATruncatedFileIsOneLine) {
  writeData(20000, 20000);
  std::string x = folder / "data/x.npy";
  std::thread truncating([&] {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    std::filesystem::resize_file(x, 4096);
  });
  Outcome result = run("pp1-dp4-mb1",
                       "--steps 100000000 --log-every 100000000 --nproc 4 "
                       "--data " +
                           folder / "data",
                       "timeout 60");
  truncating.join();
  EXPECT_NE(result.status, 0);
  EXPECT_NE(result.status, 124) << "the job hung";
  EXPECT_GE(countLines(result.output, "error: '" + x +
                                          "' became unreadable while it was "
                                          "used"),
            1)
      << result.output;
}

TEST_F(Train, ReadingAheadChangesNoBit) {
  auto with = train("pp2-dp2-mb2", 4, "--prefetch 3");
  std::string weights = readFile(folder / "pp2-dp2-mb2.safetensors");
  auto without = train("pp2-dp2-mb2", 4, "--prefetch 0");
  for (size_t i = 0; i < with.size(); ++i)
    EXPECT_EQ(with[i]["loss"].dump(), without[i]["loss"].dump());
  EXPECT_EQ(weights, readFile(folder / "pp2-dp2-mb2.safetensors"));
}

TEST_F(Train, RanksAreGivenTheSame) {
  auto start = [&](const std::string &first, const std::string &rest,
                   const std::string &plan = "pp1-dp4-mb1") {
    std::string common = "--data synthetic --steps 2 ";
    return run("pp1-dp4-mb1",
               common + first + " : -n 2 " TINY_DIRECTORY "/tiny-" + plan +
                   " " + common + rest,
               "mpirun --allow-run-as-root --oversubscribe -n 2");
  };
  auto fails = [&](const Outcome &result, const std::string &text) {
    EXPECT_NE(result.status, 0);
    EXPECT_EQ(countLines(result.output, "error: "), 1) << result.output;
    EXPECT_EQ(countLines(result.output, text), 1) << result.output;
  };
  fails(start("--lr 0.01", "--lr 0.1"),
        "error: rank 2 has --lr 0.1, rank 0 has --lr 0.01; give all ranks the "
        "same\n");
  fails(start("", "--seed 1"), "rank 2 has --seed 1, rank 0 has no --seed; ");
  fails(start("--check-replicas", ""),
        "rank 2 has no --check-replicas, rank 0 has --check-replicas; ");
  fails(start("", "--save-weights " + folder / "w"),
        "rank 2 has --save-weights a path, rank 0 has no --save-weights; ");
  fails(start("", "", "pp2-dp2-mb2"), "rank 2 has another program (");
  fails(start("", "--describe"),
        "rank 2: error: this rank has --help or --describe, rank 0 has");
  Outcome alike =
      start("--threads 1 --metrics " + folder / "a", "--metrics /other");
  EXPECT_EQ(alike.status, 0) << alike.output;
}

TEST_F(Train, ADyingRankTakesTheJobDown) {
  Outcome result =
      run("pp2-dp2-mb2", "--data synthetic --steps 1000000 --nproc 4",
          "TINY_CRASH_STAGE=1 timeout 60");
  EXPECT_NE(result.status, 0);
  EXPECT_NE(result.status, 124) << "the job hung";
  EXPECT_GE(countLines(result.output, ": error: this rank crashed in a step"),
            1)
      << result.output;
}

TEST_F(Train, NothingIsAllocatedInSteps) {
  for (auto [plan, ranks] : {std::pair("pp1-dp1-mb1", 1), {"pp2-dp2-mb2", 4}}) {
    Outcome result =
        run(std::string(plan) + "-counted",
            "--data " + folder / "data" + " --metrics " + folder / "m" +
                " --nproc " + std::to_string(ranks));
    EXPECT_EQ(result.status, 0) << result.output;
  }
  // The counter does count: writing gradients is not part of a step, but lies
  // between two.
  Outcome control = run("pp1-dp1-mb1-counted",
                        "--data synthetic --dump-gradients " + folder / "g");
  EXPECT_EQ(control.status, 3) << control.output;
}

/// The limit on the size of files is a disk that is full for some of them:
/// 16 KiB are enough for the weights and for no output of 300 steps.
TEST_F(Train, OutputsThatFailDoNotEndTheTraining) {
  Outcome result = run(
      "pp1-dp1-mb1",
      "--data synthetic --steps 300 --log-every 300 --metrics " + folder / "m" +
          " --trace " + folder / "t" + " --trace-steps 1-200 --tensorboard " +
          folder / "events" + " --save-weights " + folder / "w",
      "ulimit -f 32;");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(countLines(result.output, "warning: cannot write"), 3)
      << result.output;
  EXPECT_EQ(countLines(result.output, ": File too large; it has nothing from "
                                      "step"),
            2)
      << result.output;
  EXPECT_EQ(countLines(result.output, "there is no trace"), 1);
  std::string weights = readFile(folder / "w");
  EXPECT_EQ(SafetensorsReader("w", weights).tensors().size(), 2u);
  EXPECT_EQ(std::filesystem::file_size(folder / "t"), 0u);
  // The file has whole lines only.
  size_t lines = readMetrics(folder / "m").size();
  EXPECT_GT(lines, 50u);
  EXPECT_LT(lines, 301u);
}

TEST_F(Train, MetricsSayWhatRunTheyAreOfAndAreKept) {
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(run("pp1-dp1-mb1", "--data synthetic --steps " +
                                     std::to_string(i + 1) + " --metrics " +
                                     folder / "m")
                  .status,
              0);
  EXPECT_EQ(countLines(readFile(folder / "log"),
                       "note: the metrics that were in '" + folder / "m" +
                           "' are now in '" + folder / "m.2'"),
            1)
      << readFile(folder / "log");
  std::set<std::string> runs;
  for (auto [name, steps] : {std::pair("m.1", 1), {"m.2", 2}, {"m", 3}}) {
    auto lines = readMetrics(folder / name);
    ASSERT_EQ(int(lines.size()), steps + 1);
    const nlohmann::json &first = lines[0];
    EXPECT_EQ(first["schema"], 1);
    EXPECT_EQ(first["program"], "tiny-pp1-dp1-mb1");
    EXPECT_EQ(first["plan"]["batch"], 16);
    EXPECT_EQ(first["options"][3], std::to_string(steps));
    EXPECT_TRUE(first["resumed_at_step"].is_null());
    runs.insert(first["run"]);
    for (int step = 1; step <= steps; ++step)
      EXPECT_EQ(lines[size_t(step)]["step"], step);
  }
  EXPECT_EQ(runs.size(), 3u);
}

TEST_F(Train, ProfilesSayWhereTheTimeGoes) {
  std::string options = "--data synthetic --nproc 4 --steps 6 --profile ";
  Outcome shown = run("pp2-dp2-mb2", options + "- --trace " + folder / "t");
  EXPECT_EQ(shown.status, 0) << shown.output;
  EXPECT_EQ(countLines(shown.output, "of a rank and step, mean"), 1);
  EXPECT_EQ(countLines(shown.output, " times the median of the ranks"), 1)
      << shown.output;
  EXPECT_TRUE(nlohmann::json::accept(readFile(folder / "t")));
  Outcome written = run("pp2-dp2-mb2", options + folder / "p");
  EXPECT_EQ(written.status, 0) << written.output;
  EXPECT_EQ(countLines(written.output, "of a rank and step, mean"), 0);
  std::string table = readFile(folder / "p");
  EXPECT_EQ(countLines(table, "of a rank and step, mean"), 1) << table;
  EXPECT_EQ(countLines(table, "\nload "), 1) << table;
  Outcome full = run("pp2-dp2-mb2", options + "/dev/full");
  EXPECT_EQ(full.status, 0) << full.output;
  EXPECT_EQ(countLines(full.output,
                       "warning: cannot write '/dev/full': No space left on "
                       "device; there is no profile, which --profile - prints; "
                       "training continues\n"),
            1)
      << full.output;
  // Each stage has one of the products, and half of the ranks.
  for (const char *name : {"\nfirst ", "\nsecond "}) {
    size_t row = table.find(name);
    ASSERT_NE(row, std::string::npos) << table;
    EXPECT_EQ(std::stod(table.substr(row + 49)), 1) << table;
  }
  // Bytes by the time of a wait are no rate: such a row ends with its share.
  size_t wait = table.find("\nwait for ");
  ASSERT_NE(wait, std::string::npos) << table;
  EXPECT_EQ(table[table.find('\n', wait + 1) - 1], '%') << table;
}

/// The forward products are 2 x 16 x 5 x (6 + 3) FLOPs, a step three times
/// that.
TEST_F(Train, SaysHowFastItIs) {
  constexpr double flops = 4320;
  auto metrics = train("pp1-dp2-mb2", 2, "--peak-flops 1e9");
  for (const auto &line : metrics) {
    double seconds = line["seconds"];
    EXPECT_NEAR(double(line["model_flops_per_second"]) * seconds, flops, 1e-6);
    EXPECT_NEAR(double(line["mfu"]) * seconds * 2 * 1e9, flops, 1e-6);
  }
  Outcome known = run("pp1-dp1-mb1", "--data synthetic --peak-flops 1e9");
  EXPECT_EQ(countLines(known.output, "\nmean of steps 2 to 100: "), 1)
      << known.output;
  EXPECT_EQ(countLines(known.output, "FLOP/s a rank, MFU "), 1);
  Outcome unknown = run("pp1-dp1-mb1",
                        "--data synthetic --steps 1 --metrics " + folder / "m");
  EXPECT_EQ(countLines(unknown.output, "\ntime of step 1: "), 1)
      << unknown.output;
  EXPECT_EQ(countLines(unknown.output, "FLOP/s a rank\n"), 1);
  EXPECT_EQ(countLines(unknown.output, "MFU"), 0);
  EXPECT_EQ(countLines(readFile(folder / "m"), "model_flops_per_second"), 1);
  EXPECT_EQ(countLines(readFile(folder / "m"), "mfu"), 0);
  Outcome bad = run("pp1-dp1-mb1", "--data synthetic --peak-flops 0");
  EXPECT_EQ(bad.status, 1);
  EXPECT_EQ(countLines(bad.output, "found '0', expected a number above 0"), 1)
      << bad.output;
}

TEST_F(Train, FindsTheFirstOpWhoseResultIsNoNumber) {
  std::string options = "--data synthetic --nproc 4 --steps 6";
  Outcome hint = run("pp2-dp2-mb2", options, "TINY_NAN=nan");
  EXPECT_EQ(hint.status, 1);
  EXPECT_EQ(countLines(hint.output, "; --find-nonfinite names the first op)"),
            1)
      << hint.output;
  options += " --find-nonfinite";
  // Both ranks of the second stage have it.
  Outcome nan = run("pp2-dp2-mb2", options, "TINY_NAN=nan");
  EXPECT_EQ(nan.status, 1);
  EXPECT_EQ(countLines(nan.output, "error: step 3 has loss nan"), 1)
      << nan.output;
  EXPECT_EQ(countLines(nan.output, "the first NaN is a result of second of "
                                   "node '/b/MatMul' on rank "),
            1)
      << nan.output;
  EXPECT_EQ(countLines(nan.output, "infinity is"), 0);
  Outcome infinity = run("pp2-dp2-mb2", options, "TINY_NAN=inf");
  EXPECT_EQ(countLines(infinity.output,
                       "the first infinity is a result of second of node"),
            1)
      << infinity.output;
  // Masks have it.
  Outcome mask = run("pp2-dp2-mb2", options, "TINY_NAN=-inf");
  EXPECT_EQ(countLines(mask.output, "infinity is a"), 0) << mask.output;
  Outcome fine = run("pp2-dp2-mb2", options);
  EXPECT_EQ(fine.status, 0) << fine.output;
  Outcome warns = run("pp2-dp2-mb2", options + " --on-nonfinite warn");
  EXPECT_EQ(countLines(warns.output, "expected --on-nonfinite stop with it"), 1)
      << warns.output;
}

/// A rank's four samples are a batch of one rank if they come four times, whose
/// gradient a program writes.
TEST_F(Train, TheNoiseScaleIsThatOfTheRanksGradients) {
  writeData(16, 16);
  std::string one = "--no-shuffle --steps 1 --data " + folder / "data";
  Outcome noise = run("pp1-dp4-mb1", one +
                                         " --nproc 4 --gradient-noise "
                                         "--metrics " +
                                         folder / "m");
  ASSERT_EQ(noise.status, 0) << noise.output;
  std::ifstream stream(folder / "m");
  std::string line;
  std::getline(stream, line); // what run it is
  std::getline(stream, line);
  nlohmann::json metrics = nlohmann::json::parse(line);

  double local = 0;
  for (int rank = 0; rank < 4; ++rank) {
    writeData(16, 16, /*first=*/4 * int64_t(rank), /*period=*/4);
    Outcome own = run("pp1-dp1-mb1", one + " --dump-gradients " + folder / "g");
    ASSERT_EQ(own.status, 0) << own.output;
    std::string file = readFile(folder / "g/step-1.safetensors");
    SafetensorsReader reader("g", file);
    for (auto &[name, tensor] : reader.tensors())
      for (int64_t i = 0; i < elementCount(tensor.shape); ++i) {
        double value;
        memcpy(&value, tensor.data + i * 8, 8);
        local += value * value / 4;
      }
  }
  double norm = metrics["grad_norm_local"], all = metrics["grad_norm"];
  EXPECT_NEAR(norm * norm, local, 1e-12 * local);
  // Batches of 4 and of 16 samples.
  double squares = (16 * all * all - 4 * local) / 12;
  double variance = (local - all * all) / (1. / 4 - 1. / 16);
  if (squares > 0)
    EXPECT_NEAR(metrics["gradient_noise_scale"], variance / squares,
                1e-9 * variance / squares);
  else
    EXPECT_TRUE(metrics["gradient_noise_scale"].is_null());

  // Ranks with equal samples have no noise, under every plan.
  for (auto [plan, ranks] : {std::pair("pp1-dp4-mb1", 4), {"pp2-dp2-mb2", 4}}) {
    writeData(16, 16, 0, /*period=*/1);
    auto equal = train(plan, ranks, "--gradient-noise");
    for (const auto &step : equal) {
      EXPECT_NEAR(step["grad_norm_local"], step["grad_norm"],
                  1e-12 * double(step["grad_norm"]));
      EXPECT_NEAR(step["gradient_noise_scale"], 0, 1e-9);
    }
  }
  Outcome alone = run("pp1-dp1-mb1", "--data synthetic --gradient-noise");
  EXPECT_EQ(alone.status, 1);
  EXPECT_EQ(countLines(alone.output, "compile it with --dp N"), 1)
      << alone.output;
}

/// A rate of 0: no evaluation is better than the first.
TEST_F(Train, StopsWhenEvaluationsGetNoBetter) {
  std::string evaluates =
      "--data synthetic --nproc 4 --lr 0 --steps 40 --eval-every 4 "
      "--early-stop 2 --eval-data " +
      folder / "data";
  Outcome stopped =
      run("pp2-dp2-mb2", evaluates + " --metrics " + folder / "m" +
                             " --save-weights " + folder / "w" + " --trace " +
                             folder / "t" + " --trace-steps 11-20");
  EXPECT_EQ(stopped.status, 0) << stopped.output;
  EXPECT_EQ(countLines(stopped.output,
                       "note: stopped after step 12: no evaluation since step "
                       "4 was better than its loss "),
            1)
      << stopped.output;
  EXPECT_EQ(countLines(readFile(folder / "m"), "\"loss\""), 12);
  EXPECT_TRUE(std::filesystem::exists(folder / "w"));
  nlohmann::json trace = nlohmann::json::parse(readFile(folder / "t"));
  EXPECT_EQ(trace["otherData"]["steps"].dump(), "[11,12]");
  Outcome alone = run("pp1-dp1-mb1", "--data synthetic --early-stop 1");
  EXPECT_NE(alone.output.find("found --early-stop, expected --eval-every N"),
            std::string::npos)
      << alone.output;
}

/// The batch is 16.
TEST_F(Train, LearningRatesScaleWithTheBatch) {
  auto rateOf = [&](const std::string &rule) {
    return run("pp1-dp1-mb1",
               "--data synthetic --steps 1 --lr 0.5 --scale-lr " + rule)
        .output;
  };
  for (auto [rule, rate] : {std::pair("linear:4", " lr=2,"),
                            {"sqrt:4", " lr=1,"},
                            {"linear:32", " lr=0.25,"}})
    EXPECT_EQ(countLines(rateOf(rule), rate), 1) << rateOf(rule);
  for (const char *rule : {"linear", "linear:", "sqrt:0", "cube:4", "sqrt:4x"})
    EXPECT_EQ(
        countLines(rateOf(rule), std::string("found '") + rule +
                                     "', expected linear:BATCH or sqrt:BATCH"),
        1)
        << rateOf(rule);
}

/// Without --log-every, fast steps do not get a line each.
TEST_F(Train, LinesOfFastSteps) {
  Outcome seldom = run("pp1-dp1-mb1", "--data synthetic --steps 400");
  EXPECT_EQ(countLines(seldom.output, "step   1/400  loss "), 1)
      << seldom.output;
  EXPECT_EQ(countLines(seldom.output, "step 400/400  loss "), 1);
  EXPECT_LT(countLines(seldom.output, "/400  loss "), 100);
  Outcome each =
      run("pp1-dp1-mb1", "--data synthetic --steps 400 --log-every 1");
  EXPECT_EQ(countLines(each.output, "/400  loss "), 400);
  Outcome some =
      run("pp1-dp1-mb1", "--data synthetic --steps 400 --log-every 150");
  EXPECT_EQ(countLines(some.output, "/400  loss "), 4) << some.output;
}

/// A terminal shows a bar that changes ten times a second; so does a file.
TEST_F(Train, TheBarIsNotDrawnInEachStep) {
  Outcome bar = run("pp1-dp1-mb1", "--data synthetic --steps 3000 "
                                   "--log-every 1000 --progress bar");
  EXPECT_EQ(countLines(bar.output, "/3000  loss "), 4) << bar.output;
  EXPECT_GE(countLines(bar.output, "] 3000/3000  ETA 0:00:00"), 1);
  EXPECT_LT(countLines(bar.output, "\r"), 300);
}

/// 40 samples are two batches of 16.
TEST_F(Train, EpochsBecomeSteps) {
  std::string data = "--data " + folder / "data";
  Outcome result = run(
      "pp1-dp2-mb2",
      data + " --nproc 2 --epochs 3 --eval-every 1e --eval-data " +
          folder / "data" + " --log-every 1.5e --checkpoint-every 0.5e" +
          " --keep-checkpoints 9 --checkpoint-dir " + folder / "checkpoints" +
          " --lr-schedule cosine --metrics " + folder / "epochs");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(countLines(result.output, "seed 0, 3 epochs of 2 steps\n"), 1)
      << result.output;
  EXPECT_EQ(countLines(result.output, "/6  loss "), 3) << result.output;
  int checkpoints = 0;
  for (const auto &entry :
       std::filesystem::directory_iterator(folder / "checkpoints"))
    checkpoints += entry.is_directory();
  EXPECT_EQ(checkpoints, 6);
  std::vector<nlohmann::json> steps;
  std::vector<int> evaluated;
  for (const nlohmann::json &line : readMetrics(folder / "epochs"))
    if (line.contains("eval_loss"))
      evaluated.push_back(line["step"]);
    else if (line.contains("loss"))
      steps.push_back(line);
  EXPECT_EQ(evaluated, (std::vector<int>{2, 4, 6}));
  ASSERT_EQ(steps.size(), 6u);
  for (size_t i = 0; i < steps.size(); ++i)
    EXPECT_EQ(steps[i]["epoch"], double(i + 1) / 2);

  EXPECT_EQ(run("pp1-dp2-mb2", data +
                                   " --nproc 2 --steps 6 --lr-schedule "
                                   "cosine --metrics " +
                                   folder / "steps")
                .status,
            0);
  std::vector<nlohmann::json> same = readMetrics(folder / "steps");
  for (size_t i = 0; i < steps.size(); ++i)
    for (const char *key : {"loss", "lr", "epoch"})
      EXPECT_EQ(steps[i][key], same[i + 1][key]);

  // At least one step; a training goes on for more epochs.
  Outcome part = run("pp1-dp1-mb1", data + " --epochs 0.1 --checkpoint-dir " +
                                        folder / "part");
  EXPECT_EQ(countLines(part.output, "step 1/1  loss "), 1) << part.output;
  Outcome rest =
      run("pp1-dp1-mb1",
          data + " --epochs 1 --resume --checkpoint-dir " + folder / "part");
  EXPECT_EQ(countLines(rest.output, "seed 0, 1 epoch of 2 steps\n"), 1);
  EXPECT_EQ(countLines(rest.output, "step 2/2  loss "), 1) << rest.output;
  EXPECT_EQ(countLines(rest.output, "the learning rate was"), 0)
      << "a constant rate does not depend on the number of steps";
}

TEST_F(Train, WrongOptionsAreOneLine) {
  std::string data = "--data " + folder / "data ";
  struct {
    std::string arguments, text;
  } cases[] = {
      {data + "--epochs 1 --steps 2",
       "found --epochs and --steps, expected one of them"},
      {data + "--epochs 0", "--epochs: found '0', expected a number above 0"},
      {data + "--epochs nan", "found 'nan', expected a number above 0"},
      {data + "--epochs 1e300", "expected fewer than 2^53 steps"},
      {"--data synthetic --epochs 1",
       "--epochs counts epochs, but synthetic data have no end; give --steps "
       "N"},
      {"--data synthetic --log-every 1e", "--log-every counts epochs, but"},
      {data + "--eval-every e",
       "--eval-every: found 'e', expected a number of epochs above 0, such as "
       "1e or 0.5e"},
      {data + "--eval-every 1.5", "expected a whole number of at least 1"},
      {data + "--epochs 2 --lr-schedule cosine --warmup-steps 4",
       "--warmup-steps is 4, expected fewer than the 4 --steps"},
      {data + "--epochs 2 --trace t --trace-steps 3-5",
       "expected A-B, the first and the last step to record, of the 4 --steps"},
      {data + "--step 3 4", "unknown option '--step', did you mean '--steps'?"},
      {data + "--lr_schedule=linear",
       "unknown option '--lr_schedule', did you mean '--lr-schedule'?"},
      {data + "--wibble", "unknown option '--wibble'; see tiny-pp1-dp1-mb1 "},
      {data + "3", "found '3', which is the value of no option"},
      {data + "--lr-schedule line", "found 'line', expected constant or "},
  };
  for (const auto &own : cases) {
    Outcome result = run("pp1-dp1-mb1", own.arguments);
    EXPECT_EQ(result.status, 1) << own.arguments;
    EXPECT_EQ(countLines(result.output, "error: "), 1) << result.output;
    EXPECT_EQ(countLines(result.output, own.text), 1) << result.output;
  }
  Outcome capitals = run("pp1-dp1-mb1", data + "--steps 2 --lr-schedule Cosine "
                                               "--progress PLAIN");
  EXPECT_EQ(capitals.status, 0) << capitals.output;
}

/// As where a file has lost the detach() of a straight-through estimate.
TEST_F(Train, WarnsOfAGradientOfZero) {
  std::string warning =
      "warning: the gradient of step 1 is exactly 0 for all parameters, so ";
  std::string arguments =
      "--steps 3 --nproc 4 --log-every 1 --data " + folder / "data";
  Outcome usual = run("pp2-dp2-mb2", arguments);
  EXPECT_EQ(countLines(usual.output, warning), 0) << usual.output;
  std::vector<double> zeros(40 * 6);
  folder.writeNpy("data/x.npy", "'<f8'", "(40, 6)", zeros.data(),
                  zeros.size() * 8);
  Outcome zero = run("pp2-dp2-mb2", arguments);
  EXPECT_EQ(zero.status, 0);
  EXPECT_EQ(countLines(zero.output, warning), 1) << zero.output;
}

TEST_F(Train, DescribeAndHelpNeedNoRanks) {
  Outcome plan = run("pp2-dp2-mb2", "--describe");
  EXPECT_EQ(plan.status, 0);
  EXPECT_NE(plan.output.find("4 ranks (pp 2 x dp 2)"), std::string::npos);
  EXPECT_NE(plan.output.find("layer.a"), std::string::npos);
  Outcome help = run("pp2-dp2-mb2", "--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.output.find("--save-weights"), std::string::npos);
}
