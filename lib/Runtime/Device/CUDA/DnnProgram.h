//===- DnnProgram.h - plans of cuDNN, one after the other -------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CUDA_DNNPROGRAM_H
#define DTC_LIB_RUNTIME_DEVICE_CUDA_DNNPROGRAM_H

#include "DnnGraph.h"

#include <functional>
#include <memory>
#include <optional>

namespace dtc::rt {

class CudaTimer;
class Tuning;

/// A list of plans that compute a call, on its operands and on temporaries in
/// the workspace.
class DnnProgram {
public:
  /// The place of a tensor: an operand, by its number, an offset of the
  /// workspace, or a constant of the program.
  struct Place {
    int operand = -1;
    int64_t offset = 0;
    const float *constant = nullptr;
  };

  /// A place in the workspace.
  Place addTemporary(int64_t bytes);
  Place addConstant(float value);
  /// The graph's tensors are at `tensors`, by identifier. False if the library
  /// has no plan within `workspaceBytes`, temporaries included.
  bool addStep(const DnnTarget &target, const DnnGraph &graph,
               bool mayUseTensorCores, int64_t workspaceBytes,
               std::vector<Place> tensors);

  /// The workspace of all plans, with the temporaries.
  int64_t workspaceBytes() const;
  void run(cudnnHandle_t handle, std::span<const void *const> operands,
           char *workspace);
  /// As DnnPlan::name has them.
  std::vector<std::string> planNames(size_t step) const;
  /// Chooses among the plans of each step. What is measured is computed several
  /// times, on `operands()`.
  void tune(Tuning &tuning, const std::string &what, CudaTimer &timer,
            cudnnHandle_t handle,
            const std::function<std::span<const void *const>()> &operands,
            char *workspace);

  bool isTuned = false;

private:
  /// A graph, by one of its plans.
  struct Step {
    std::vector<DnnPlan> plans;
    std::vector<Place> tensors;
    size_t chosen = 0;
  };
  void run(Step &step, size_t plan, cudnnHandle_t handle,
           std::span<const void *const> operands, char *workspace) const;

  std::vector<Step> steps;
  std::vector<std::unique_ptr<float>> constants;
  int64_t temporaryBytes = 0;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CUDA_DNNPROGRAM_H
