//===- CudaClock.cpp - times of a GPU in a step ---------------------------===//

#include "CudaDevice.h"
#include "Device/Device.h"
#include "Device/DeviceClock.h"

using namespace dtc::rt;

namespace {

/// A mark is the number of an event of the step.
class CudaClock : public DeviceClock {
public:
  explicit CudaClock(CudaDevice &device) : device(device) {}

  /// The first event is done before its time of the host: by a few
  /// microseconds, which are the error of all that follow.
  void begin() override {
    device.synchronize();
    used = 0;
    mark();
    device.synchronize();
    start = hostTime();
  }
  int64_t mark() override {
    if (used == events.size())
      events.push_back(std::make_unique<CudaEvent>(/*hasTime=*/true));
    events[used]->record(device.compute());
    return int64_t(used++);
  }
  int64_t timeOf(int64_t mark) const override {
    const CudaEvent &event = *events[size_t(mark)];
    event.synchronize();
    constexpr double nanoseconds = 1e6; // of a millisecond
    return start + int64_t(event.since(*events.front()) * nanoseconds);
  }

private:
  CudaDevice &device;
  std::vector<std::unique_ptr<CudaEvent>> events;
  size_t used = 0;
  int64_t start = 0;
};

} // namespace

std::unique_ptr<DeviceClock> dtc::rt::makeCudaClock(CudaDevice &device) {
  return std::make_unique<CudaClock>(device);
}
