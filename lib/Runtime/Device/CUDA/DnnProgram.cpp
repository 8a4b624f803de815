//===- DnnProgram.cpp - plans of cuDNN, one after the other ---------------===//

#include "DnnProgram.h"

#include "Core/Error.h"
#include "CudaDevice.h"
#include "Device/Tuning.h"

#include <algorithm>

using namespace dtc::rt;

DnnProgram::Place DnnProgram::addTemporary(int64_t bytes) {
  Place place{-1, temporaryBytes};
  temporaryBytes += (bytes + 255) & ~int64_t(255);
  return place;
}

DnnProgram::Place DnnProgram::addConstant(float value) {
  constants.push_back(std::make_unique<float>(value));
  return {-1, 0, constants.back().get()};
}

bool DnnProgram::addStep(const DnnTarget &target, const DnnGraph &graph,
                         bool mayUseTensorCores, int64_t workspaceBytes,
                         std::vector<Place> tensors) {
  std::vector<DnnPlan> plans =
      graph.find(target, {mayUseTensorCores, workspaceBytes - temporaryBytes});
  if (plans.empty())
    return false;
  steps.push_back({std::move(plans), std::move(tensors)});
  return true;
}

int64_t DnnProgram::workspaceBytes() const {
  int64_t most = 0;
  for (const Step &step : steps)
    for (const DnnPlan &plan : step.plans)
      most = std::max(most, plan.workspaceBytes());
  return temporaryBytes + most;
}

void DnnProgram::run(Step &step, size_t number, cudnnHandle_t handle,
                     std::span<const void *const> operands,
                     char *workspace) const {
  DnnAddresses addresses{};
  for (size_t i = 0; i < step.tensors.size(); ++i) {
    const Place &place = step.tensors[i];
    addresses[i] = place.constant       ? place.constant
                   : place.operand >= 0 ? operands[size_t(place.operand)]
                                        : workspace + place.offset;
  }
  DnnPlan &plan = step.plans[number];
  plan.run(handle, addresses,
           plan.workspaceBytes() ? workspace + temporaryBytes : nullptr);
}

void DnnProgram::run(cudnnHandle_t handle,
                     std::span<const void *const> operands, char *workspace) {
  for (Step &step : steps)
    run(step, step.chosen, handle, operands, workspace);
}

std::vector<std::string> DnnProgram::planNames(size_t step) const {
  std::vector<std::string> names;
  names.reserve(steps[step].plans.size());
  for (const DnnPlan &plan : steps[step].plans)
    names.push_back(plan.name());
  return names;
}

void DnnProgram::tune(
    Tuning &tuning, const std::string &what, CudaTimer &timer,
    cudnnHandle_t handle,
    const std::function<std::span<const void *const>()> &operands,
    char *workspace) {
  isTuned = true;
  for (size_t i = 0; i < steps.size(); ++i) {
    Step &step = steps[i];
    step.chosen = tuning.choose(
        what + format(", graph %zu", i), planNames(i), [&](size_t plan) {
          return timer.measure(
              [&] { run(step, plan, handle, operands(), workspace); });
        });
  }
}
