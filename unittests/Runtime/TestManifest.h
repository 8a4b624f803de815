//===- TestManifest.h - a small valid manifest ------------------*- C++ -*-===//

#ifndef DTC_UNITTESTS_RUNTIME_TESTMANIFEST_H
#define DTC_UNITTESTS_RUNTIME_TESTMANIFEST_H

#include "Program/Program.h"

#include <nlohmann/json.hpp>

/// Four ranks of data parallelism over a table lookup; tests change fields.
inline nlohmann::json validManifest() {
  return nlohmann::json::parse(R"({
    "model": "m", "dtype": "f32", "loss": "cross-entropy",
    "mesh": [{"name": "pp", "size": 1}, {"name": "dp", "size": 4}],
    "batch_axes": ["dp"],
    "microbatches": 2, "global_batch": 16,
    "weights_file": "",
    "optimizer": {"name": "sgd", "lr": 0.5, "momentum": 0},
    "groups": [["dp"], ["pp", "dp"]],
    "phases": ["F", "W"],
    "inputs": [{"name": "x", "dtype": "i64", "shape": [16, 3],
                "kind": "input", "bound": [10]},
               {"name": "y", "dtype": "i64", "shape": [16],
                "kind": "label", "bound": [4], "ignore_index": -100}],
    "parameters": [{"name": "w", "dtype": "f64", "shape": [3, 2],
                    "splits": [],
                    "tensor": {"name": "w", "shape": [3, 2], "start": [0, 0]},
                    "trainable": true, "init": "file"}],
    "eval_sums": [{"name": "loss", "size": 1}, {"name": "count", "size": 1},
                  {"name": "right", "size": 1}],
    "stages": [{"arena_bytes": 512,
                "inputs": [{"index": 0, "offset": 0},
                           {"index": 1, "offset": 96}],
                "parameters": [{"index": 0, "offset": 128,
                                "gradient": {"offset": 192}, "state": []}],
                "constants": [], "loss": 240, "grad_norm": 248, "eval": 256}]
  })");
}

inline dtc::rt::Program readJson(const nlohmann::json &manifest,
                                 uint32_t version = DTC_ABI_VERSION,
                                 uint32_t stages = 1) {
  std::string text = manifest.dump();
  dtc_step_fn step = nullptr;
  return dtc::rt::readProgram(
      {version, stages, &step, &step, &step, text.data(), text.size()});
}

#endif // DTC_UNITTESTS_RUNTIME_TESTMANIFEST_H
