//===- TrainOutputTest.cpp - lines and files of training programs ---------===//

#include "TrainFixture.h"

#include <set>

using namespace dtc::rt;

/// A limit on file sizes acts like a full disk: 16 KiB are enough for the
/// weights, but not for the other outputs of 300 steps.
TEST_F(Train, OutputsThatFailDoNotEndTheTraining) {
  ProgramOutcome result = run(
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
  // The file contains whole lines only.
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
  ProgramOutcome shown =
      run("pp2-dp2-mb2", options + "- --trace " + folder / "t");
  EXPECT_EQ(shown.status, 0) << shown.output;
  EXPECT_EQ(countLines(shown.output, "of a rank and step, mean"), 1);
  EXPECT_EQ(countLines(shown.output, " times the median of the ranks"), 1)
      << shown.output;
  EXPECT_TRUE(nlohmann::json::accept(readFile(folder / "t")));
  ProgramOutcome written = run("pp2-dp2-mb2", options + folder / "p");
  EXPECT_EQ(written.status, 0) << written.output;
  EXPECT_EQ(countLines(written.output, "of a rank and step, mean"), 0);
  std::string table = readFile(folder / "p");
  EXPECT_EQ(countLines(table, "of a rank and step, mean"), 1) << table;
  EXPECT_EQ(countLines(table, "\nload "), 1) << table;
  ProgramOutcome full = run("pp2-dp2-mb2", options + "/dev/full");
  EXPECT_EQ(full.status, 0) << full.output;
  EXPECT_EQ(countLines(full.output,
                       "warning: cannot write '/dev/full': No space left on "
                       "device; there is no profile, which --profile - prints; "
                       "training continues\n"),
            1)
      << full.output;
  // Each stage has one of the matmuls, and half of the ranks.
  for (const char *name : {"\nfirst ", "\nsecond "}) {
    size_t row = table.find(name);
    ASSERT_NE(row, std::string::npos) << table;
    EXPECT_EQ(std::stod(table.substr(row + 49)), 1) << table;
  }
  // Bytes divided by the time of a wait are not a rate, so the row ends with
  // its share.
  size_t wait = table.find("\nwait for ");
  ASSERT_NE(wait, std::string::npos) << table;
  EXPECT_EQ(table[table.find('\n', wait + 1) - 1], '%') << table;
}

/// The forward matmuls take 2 x 16 x 5 x (6 + 3) FLOPs, and a step three times
/// as many.
TEST_F(Train, SaysHowFastItIs) {
  constexpr double flops = 4320;
  auto metrics = train("pp1-dp2-mb2", 2, "--peak-flops 1e9");
  for (const auto &line : metrics) {
    double seconds = line["seconds"];
    EXPECT_NEAR(double(line["model_flops_per_second"]) * seconds, flops, 1e-6);
    EXPECT_NEAR(double(line["mfu"]) * seconds * 2 * 1e9, flops, 1e-6);
  }
  ProgramOutcome known =
      run("pp1-dp1-mb1", "--data synthetic --peak-flops 1e9");
  EXPECT_EQ(countLines(known.output, "\nmean of steps 2 to 100: "), 1)
      << known.output;
  EXPECT_EQ(countLines(known.output, "FLOP/s a rank, MFU "), 1);
  ProgramOutcome unknown = run(
      "pp1-dp1-mb1", "--data synthetic --steps 1 --metrics " + folder / "m");
  EXPECT_EQ(countLines(unknown.output, "\ntime of step 1: "), 1)
      << unknown.output;
  EXPECT_EQ(countLines(unknown.output, "FLOP/s a rank\n"), 1);
  EXPECT_EQ(countLines(unknown.output, "MFU"), 0);
  EXPECT_EQ(countLines(readFile(folder / "m"), "model_flops_per_second"), 1);
  EXPECT_EQ(countLines(readFile(folder / "m"), "mfu"), 0);
  ProgramOutcome bad = run("pp1-dp1-mb1", "--data synthetic --peak-flops 0");
  EXPECT_EQ(bad.status, 1);
  EXPECT_EQ(countLines(bad.output, "found '0', expected a number above 0"), 1)
      << bad.output;
}

TEST_F(Train, FindsTheFirstOpWhoseResultIsNoNumber) {
  std::string options = "--data synthetic --nproc 4 --steps 6";
  ProgramOutcome hint = run("pp2-dp2-mb2", options, "TINY_NAN=nan");
  EXPECT_EQ(hint.status, 1);
  EXPECT_EQ(countLines(hint.output, "; --find-nonfinite names the first op)"),
            1)
      << hint.output;
  options += " --find-nonfinite";
  // Both ranks of the second stage have the NaN.
  ProgramOutcome nan = run("pp2-dp2-mb2", options, "TINY_NAN=nan");
  EXPECT_EQ(nan.status, 1);
  EXPECT_EQ(countLines(nan.output, "error: step 3 has loss nan"), 1)
      << nan.output;
  EXPECT_EQ(countLines(nan.output, "the first NaN is a result of second of "
                                   "node '/b/MatMul' on rank "),
            1)
      << nan.output;
  EXPECT_EQ(countLines(nan.output, "infinity is"), 0);
  ProgramOutcome infinity = run("pp2-dp2-mb2", options, "TINY_NAN=inf");
  EXPECT_EQ(countLines(infinity.output,
                       "the first infinity is a result of second of node"),
            1)
      << infinity.output;
  // Masks contain it.
  ProgramOutcome mask = run("pp2-dp2-mb2", options, "TINY_NAN=-inf");
  EXPECT_EQ(countLines(mask.output, "infinity is a"), 0) << mask.output;
  ProgramOutcome fine = run("pp2-dp2-mb2", options);
  EXPECT_EQ(fine.status, 0) << fine.output;
  ProgramOutcome warns = run("pp2-dp2-mb2", options + " --on-nonfinite warn");
  EXPECT_EQ(countLines(warns.output, "expected --on-nonfinite stop with it"), 1)
      << warns.output;
}

/// The gradient of a rank's four samples is that of a batch of one rank with
/// these samples repeated four times, which a program can write.
TEST_F(Train, TheNoiseScaleIsThatOfTheRanksGradients) {
  writeData(16, 16);
  std::string one = "--no-shuffle --steps 1 --data " + folder / "data";
  ProgramOutcome noise = run("pp1-dp4-mb1", one +
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
    ProgramOutcome own =
        run("pp1-dp1-mb1", one + " --dump-gradients " + folder / "g");
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
  ProgramOutcome alone =
      run("pp1-dp1-mb1", "--data synthetic --gradient-noise");
  EXPECT_EQ(alone.status, 1);
  EXPECT_EQ(countLines(alone.output, "compile it with --dp N"), 1)
      << alone.output;
}

/// Without --log-every, fast steps do not get a line each.
TEST_F(Train, LinesOfFastSteps) {
  ProgramOutcome seldom = run("pp1-dp1-mb1", "--data synthetic --steps 400");
  EXPECT_EQ(countLines(seldom.output, "step   1/400  loss "), 1)
      << seldom.output;
  EXPECT_EQ(countLines(seldom.output, "step 400/400  loss "), 1);
  EXPECT_LT(countLines(seldom.output, "/400  loss "), 100);
  ProgramOutcome each =
      run("pp1-dp1-mb1", "--data synthetic --steps 400 --log-every 1");
  EXPECT_EQ(countLines(each.output, "/400  loss "), 400);
  ProgramOutcome some =
      run("pp1-dp1-mb1", "--data synthetic --steps 400 --log-every 150");
  EXPECT_EQ(countLines(some.output, "/400  loss "), 4) << some.output;
}

/// A terminal shows a progress bar that changes at most ten times per second.
TEST_F(Train, TheBarIsNotDrawnInEachStep) {
  ProgramOutcome bar = run("pp1-dp1-mb1", "--data synthetic --steps 3000 "
                                          "--log-every 1000 --progress bar");
  EXPECT_EQ(countLines(bar.output, "/3000  loss "), 4) << bar.output;
  EXPECT_GE(countLines(bar.output, "] 3000/3000  ETA 0:00:00"), 1);
  EXPECT_LT(countLines(bar.output, "\r"), 300);
}
