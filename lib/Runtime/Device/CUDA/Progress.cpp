//===- Progress.cpp - the communication that a stream is at ---------------===//

#include "Progress.h"

#include "CudaDevice.h"

using namespace dtc::rt;

Progress::Progress() : word(std::make_unique<PinnedMemory>(sizeof(uint32_t))) {
  *reinterpret_cast<uint32_t *>(word->data()) = 0;
}

Progress::~Progress() = default;

void Progress::beginCalls(const void *plan) {
  next = firstCalls.try_emplace(plan, numCalls).first->second;
}

void Progress::add(std::string words) {
  std::lock_guard<std::mutex> lock(mutex);
  calls.push_back(std::move(words));
  ++numCalls;
}

/// Pinned memory has one address for the host and the device.
void Progress::write(CUstream stream, uint32_t value) const {
  DTC_CUDA(cuStreamWriteValue32(stream, toDevice(word->data()), value,
                                CU_STREAM_WRITE_VALUE_DEFAULT));
}

Progress::State Progress::get() const {
  const auto *place = reinterpret_cast<const uint32_t *>(word->data());
  return {runs, __atomic_load_n(place, __ATOMIC_ACQUIRE)};
}

std::string Progress::describe(const State &state) const {
  std::lock_guard<std::mutex> lock(mutex);
  return calls.at((state.word - 1) / 2);
}
