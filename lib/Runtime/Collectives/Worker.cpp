//===- Worker.cpp - threads that do what a rank has started ---------------===//

#include "Worker.h"

using namespace dtc::rt;

Worker::~Worker() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    ends = true;
  }
  changed.notify_all();
  thread.join();
}

void Worker::add(Task task) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    tasks.push_back(std::move(task));
    if (!thread.joinable())
      thread = std::thread([this] { run(); });
  }
  changed.notify_all();
}

void Worker::finish() {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [this] { return tasks.empty(); });
}

bool Worker::isIdle() {
  std::lock_guard<std::mutex> lock(mutex);
  return tasks.empty();
}

void Worker::run() {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return ends || !tasks.empty(); });
    if (tasks.empty())
      return;
    lock.unlock();
    tasks.front()();
    lock.lock();
    tasks.pop_front();
    changed.notify_all();
  }
}

void WorkerPool::add(Worker::Task task) {
  for (std::unique_ptr<Worker> &worker : workers)
    if (worker->isIdle())
      return worker->add(std::move(task));
  workers.push_back(std::make_unique<Worker>());
  workers.back()->add(std::move(task));
}
