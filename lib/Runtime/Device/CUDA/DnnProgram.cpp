//===- DnnProgram.cpp - plans of cuDNN, one after the other ---------------===//

#include "DnnProgram.h"

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
  std::optional<DnnPlan> plan =
      graph.find(target, {mayUseTensorCores, workspaceBytes - temporaryBytes});
  if (plan)
    steps.push_back({std::move(*plan), std::move(tensors)});
  return plan.has_value();
}

int64_t DnnProgram::workspaceBytes() const {
  int64_t most = 0;
  for (const Step &step : steps)
    most = std::max(most, step.plan.workspaceBytes());
  return temporaryBytes + most;
}

void DnnProgram::run(cudnnHandle_t handle,
                     std::span<const void *const> operands, char *workspace) {
  for (Step &step : steps) {
    DnnAddresses addresses{};
    for (size_t i = 0; i < step.tensors.size(); ++i) {
      const Place &place = step.tensors[i];
      addresses[i] = place.constant       ? place.constant
                     : place.operand >= 0 ? operands[size_t(place.operand)]
                                          : workspace + place.offset;
    }
    step.plan.run(handle, addresses,
                  step.plan.workspaceBytes() ? workspace + temporaryBytes
                                             : nullptr);
  }
}
