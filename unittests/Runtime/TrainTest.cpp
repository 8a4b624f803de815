//===- TrainTest.cpp - results of training programs -----------------------===//

#include "Data/Npy.h"
#include "TrainFixture.h"

#include <chrono>
#include <set>
#include <thread>

using namespace dtc::rt;

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
  // Evaluates on the training data, in order: 40 samples, two batches.
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
  // With a learning rate of 0 and samples in order, the losses of two steps are
  // those of two batches. The last 8 of 40 samples, twice in a batch of 16,
  // give the third.
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
  ProgramOutcome result =
      run("pp2-dp2-mb2",
          evaluates + " --init-weights " + folder / "pp1-dp1-mb1.safetensors" +
              " --metrics " + metrics + " --predict " + predicted);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(countLines(result.output, "evaluates 40 samples of '"), 1);
  EXPECT_NEAR(readMetrics(metrics).at(1)["eval_loss"], loss, 1e-13);
  // The mean squared error of the predictions is the loss.
  Npy array(predicted), labels(folder / "data/labels.npy");
  EXPECT_EQ(array.shape(), labels.shape());
  const auto *x = reinterpret_cast<const double *>(array.data());
  const auto *y = reinterpret_cast<const double *>(labels.data());
  double sum = 0;
  for (int i = 0; i < 40 * 3; ++i)
    sum += (x[i] - y[i]) * (x[i] - y[i]);
  EXPECT_NEAR(sum / 120, loss, 1e-13);

  ProgramOutcome missing =
      run("pp2-dp2-mb2", evaluates + " --checkpoint-dir " + folder / "none");
  EXPECT_NE(missing.status, 0);
  EXPECT_EQ(countLines(missing.output, "has no whole checkpoint"), 1)
      << missing.output;
  EXPECT_FALSE(std::filesystem::exists(folder / "none"));
}

TEST_F(Train, SyntheticDataDoNotDependOnThePlan) {
  ProgramOutcome one = run(
      "pp1-dp1-mb1", "--data synthetic --steps 3 --metrics " + folder / "a");
  ProgramOutcome four =
      run("pp1-dp4-mb1", "--data synthetic --steps 3 --nproc 4 "
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
  ProgramOutcome alone = run("pp2-dp2-mb2", "--data synthetic");
  EXPECT_EQ(alone.status, 1);
  EXPECT_NE(
      alone.output.find("error: found 1 rank, expected 4 ranks (pp 2 x "
                        "dp 2); start it with: mpirun --oversubscribe -n 4"),
      std::string::npos)
      << alone.output;
  ProgramOutcome three = run("pp2-dp2-mb2", "--data synthetic",
                             "mpirun --allow-run-as-root --oversubscribe -n 3");
  EXPECT_NE(three.status, 0);
  EXPECT_EQ(countLines(three.output, "error: found 3 ranks, expected 4"), 1)
      << three.output;
  ProgramOutcome asked = run("pp2-dp2-mb2", "--data synthetic --nproc 3");
  EXPECT_EQ(asked.status, 1);
  EXPECT_NE(asked.output.find("expected --nproc 4"), std::string::npos);
}

TEST_F(Train, ErrorsAreOneLineWhateverTheRanks) {
  auto fails = [&](const std::string &arguments, const std::string &text) {
    ProgramOutcome result =
        run("pp1-dp4-mb1", "--nproc 4 --steps 2 " + arguments);
    EXPECT_NE(result.status, 0);
    EXPECT_EQ(countLines(result.output, "error: "), 1) << result.output;
    EXPECT_EQ(countLines(result.output, text), 1) << result.output;
    // No message of mpirun follows it.
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
  // Ranks train when there are metrics of steps.
  std::string metrics = folder / "m";
  std::thread truncating([&] {
    for (int tries = 0; tries < 500; ++tries) {
      std::error_code error;
      if (std::filesystem::file_size(metrics, error) > 10000 && !error)
        break;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    std::filesystem::resize_file(x, 4096);
  });
  ProgramOutcome result =
      run("pp1-dp4-mb1",
          "--steps 100000000 --log-every 100000000 --nproc 4 "
          "--metrics " +
              metrics + " --data " + folder / "data",
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
  auto fails = [&](const ProgramOutcome &result, const std::string &text) {
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
  ProgramOutcome alike =
      start("--threads 1 --metrics " + folder / "a", "--metrics /other");
  EXPECT_EQ(alike.status, 0) << alike.output;
}

TEST_F(Train, ADyingRankTakesTheJobDown) {
  ProgramOutcome result =
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
    ProgramOutcome result =
        run(std::string(plan) + "-counted",
            "--data " + folder / "data" + " --metrics " + folder / "m" +
                " --nproc " + std::to_string(ranks));
    EXPECT_EQ(result.status, 0) << result.output;
  }
  // Control: writing gradients allocates between two steps, so the counter does
  // count.
  ProgramOutcome control =
      run("pp1-dp1-mb1-counted",
          "--data synthetic --dump-gradients " + folder / "g");
  EXPECT_EQ(control.status, 3) << control.output;
}

/// With a rate of 0, no evaluation is better than the first.
TEST_F(Train, StopsWhenEvaluationsGetNoBetter) {
  std::string evaluates =
      "--data synthetic --nproc 4 --lr 0 --steps 40 --eval-every 4 "
      "--early-stop 2 --eval-data " +
      folder / "data";
  ProgramOutcome stopped =
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
  ProgramOutcome alone = run("pp1-dp1-mb1", "--data synthetic --early-stop 1");
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

/// 40 samples are two batches of 16.
TEST_F(Train, EpochsBecomeSteps) {
  std::string data = "--data " + folder / "data";
  ProgramOutcome result = run(
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

  // Trains at least one step. A training can continue for more epochs.
  ProgramOutcome part =
      run("pp1-dp1-mb1",
          data + " --epochs 0.1 --checkpoint-dir " + folder / "part");
  EXPECT_EQ(countLines(part.output, "step 1/1  loss "), 1) << part.output;
  ProgramOutcome rest =
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
    ProgramOutcome result = run("pp1-dp1-mb1", own.arguments);
    EXPECT_EQ(result.status, 1) << own.arguments;
    EXPECT_EQ(countLines(result.output, "error: "), 1) << result.output;
    EXPECT_EQ(countLines(result.output, own.text), 1) << result.output;
  }
  ProgramOutcome capitals =
      run("pp1-dp1-mb1", data + "--steps 2 --lr-schedule Cosine "
                                "--progress PLAIN");
  EXPECT_EQ(capitals.status, 0) << capitals.output;
}

/// The gradient is zero if an exporter has lost the detach() of a
/// straight-through estimator.
TEST_F(Train, WarnsOfAGradientOfZero) {
  std::string warning =
      "warning: the gradient of step 1 is exactly 0 for all parameters, so ";
  std::string arguments =
      "--steps 3 --nproc 4 --log-every 1 --data " + folder / "data";
  ProgramOutcome usual = run("pp2-dp2-mb2", arguments);
  EXPECT_EQ(countLines(usual.output, warning), 0) << usual.output;
  std::vector<double> zeros(40 * 6);
  folder.writeNpy("data/x.npy", "'<f8'", "(40, 6)", zeros.data(),
                  zeros.size() * 8);
  ProgramOutcome zero = run("pp2-dp2-mb2", arguments);
  EXPECT_EQ(zero.status, 0);
  EXPECT_EQ(countLines(zero.output, warning), 1) << zero.output;
}

TEST_F(Train, DescribeAndHelpNeedNoRanks) {
  ProgramOutcome plan = run("pp2-dp2-mb2", "--describe");
  EXPECT_EQ(plan.status, 0);
  EXPECT_NE(plan.output.find("4 ranks (pp 2 x dp 2)"), std::string::npos);
  EXPECT_NE(plan.output.find("layer.a"), std::string::npos);
  ProgramOutcome help = run("pp2-dp2-mb2", "--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.output.find("--save-weights"), std::string::npos);
}
