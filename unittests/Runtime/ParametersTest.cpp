//===- ParametersTest.cpp -------------------------------------------------===//

#include "Checkpoint/Parameters.h"
#include "Checkpoint/Safetensors.h"
#include "Collectives/Collectives.h"
#include "Device/CPU/HostDevice.h"
#include "Expect.h"
#include "Program/Context.h"
#include "StagedArena.h"
#include "TemporaryDirectory.h"
#include "TestManifest.h"

#include <cstring>
#include <vector>

using namespace dtc::rt;

namespace {

class Parameters : public testing::Test {
protected:
  TemporaryDirectory folder;
  nlohmann::json manifest = validManifest();
  StagedArena arena{512};
  const double *w = reinterpret_cast<double *>(arena.address() + 128);

  std::string weights(const std::string &name, std::vector<int64_t> shape) {
    std::string path = folder / "w.safetensors";
    std::vector<float> values(size_t(elementCount(shape)));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = float(i) + 0.5f;
    SafetensorsWriter writer(path, {{name, DTC_F32, shape}});
    writer.append(values.data(), int64_t(values.size() * 4));
    writer.commit();
    return readFile(path);
  }

  void load(const std::string &embedded, uint64_t seed = 0) {
    Program program = readJson(manifest);
    uint64_t size = embedded.size();
    std::string end(reinterpret_cast<char *>(&size), sizeof size);
    program.executable = folder.write(
        "program", "code" + embedded + (size ? end + DTC_WEIGHTS_MARK : ""));
    auto collectives = makeSelfCollectives();
    HostDevice device(MatMulEngine::builtin, /*winograd=*/true, /*threads=*/1);
    dtc_context context(program, 0, *collectives, device, /*overlaps=*/true);
    loadParameters(context, arena, seed);
  }
};

} // namespace

TEST_F(Parameters, EmbeddedFloatsBecomeDoubles) {
  load(weights("w", {3, 2}));
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(w[i], i + 0.5);
}

TEST_F(Parameters, ExternalFileBesideTheExecutable) {
  weights("w", {3, 2});
  manifest["weights_file"] = folder / "w.safetensors"; // absolute stays so
  load("");
  EXPECT_EQ(w[5], 5.5);
  manifest["weights_file"] = "no-such-file.safetensors";
  EXPECT_ERROR(load(""), "no-such-file.safetensors': No such file");
}

TEST_F(Parameters, Rules) {
  auto loadRule = [&](const char *rule, uint64_t seed) {
    manifest["parameters"][0]["init"] = rule;
    manifest["parameters"][0]["init_scale"] = 0.25;
    load("", seed);
    return std::vector<double>(w, w + 6);
  };
  EXPECT_EQ(loadRule("ones", 0), std::vector<double>(6, 1.0));
  EXPECT_EQ(loadRule("zeros", 0), std::vector<double>(6, 0.0));
  EXPECT_EQ(loadRule("normal", 3), loadRule("normal", 3));
  EXPECT_NE(loadRule("normal", 3), loadRule("normal", 4));
}

TEST_F(Parameters, AveragesStartAsTheParameter) {
  manifest["stages"][0]["parameters"][0]["state"] =
      nlohmann::json::parse(R"([{"name": "m", "offset": 256},
                                {"name": "ema", "offset": 320}])");
  load(weights("w", {3, 2}));
  auto at = [&](int64_t offset) {
    auto *first = reinterpret_cast<double *>(arena.address() + offset);
    return std::vector<double>(first, first + 6);
  };
  EXPECT_EQ(at(256), std::vector<double>(6, 0.0));
  EXPECT_EQ(at(320), std::vector<double>(w, w + 6));
}

TEST_F(Parameters, Errors) {
  EXPECT_ERROR(load(""), "found no weights at the end of this program");
  EXPECT_ERROR(load(weights("v", {3, 2})),
               "the embedded file has no tensor 'w'");
  EXPECT_ERROR(load(weights("w", {2, 3})),
               "has shape [2, 3] for 'w', expected [3, 2]");
  EXPECT_ERROR(load("garbage, and not a safetensors file"),
               "no safetensors file");
}
