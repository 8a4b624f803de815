//===- ReadAhead.cpp - a thread that prepares the next steps --------------===//

#include "ReadAhead.h"

#include <algorithm>

using namespace dtc::rt;

ReadAhead::ReadAhead(int depth, int64_t bytes, int64_t end,
                     std::function<void(int64_t step, char *buffer)> fill)
    : depth(depth), bytes(bytes), end(end), fill(std::move(fill)),
      memory(size_t(depth * bytes)), thread([this] { run(); }) {}

ReadAhead::~ReadAhead() {
  {
    std::lock_guard lock(mutex);
    stops = true;
  }
  changed.notify_all();
  thread.join();
}

void ReadAhead::run() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] {
      bool hasRoom = next >= 0 && filled - next < depth && filled < end;
      return stops || (hasRoom && !error);
    });
    if (stops)
      return;
    int64_t step = filled, beginning = beginnings;
    std::exception_ptr thrown;
    lock.unlock();
    try {
      fill(step, buffer(step));
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    if (beginning != beginnings)
      continue; // nobody waits for this step any more
    if (thrown)
      error = thrown;
    else
      ++filled;
    changed.notify_all();
  }
}

const char *ReadAhead::wait(int64_t step) {
  std::unique_lock lock(mutex);
  if (step != next) {
    next = filled = step;
    ++beginnings;
    error = nullptr;
  }
  end = std::max(end, step + 1);
  changed.notify_all();
  changed.wait(lock, [&] { return filled > next || error; });
  if (filled == next)
    std::rethrow_exception(error);
  return buffer(step);
}

void ReadAhead::release() {
  {
    std::lock_guard lock(mutex);
    ++next;
  }
  changed.notify_all();
}
