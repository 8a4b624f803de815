//===- Worker.h - threads that do what a rank has started -------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_COLLECTIVES_WORKER_H
#define DTC_LIB_RUNTIME_COLLECTIVES_WORKER_H

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace dtc::rt {

/// A thread that does tasks in their order. It starts with the first task.
class Worker {
public:
  using Task = std::function<void()>;

  Worker() = default;
  ~Worker();
  Worker(const Worker &) = delete;

  void add(Task task);
  /// Returns when all tasks are done.
  void finish();
  bool isIdle();

private:
  void run();

  std::mutex mutex; ///< of the next members
  std::condition_variable changed;
  std::deque<Task> tasks; ///< the first is being done
  bool ends = false;
  std::thread thread;
};

/// Starts each task at once, with as many threads as there are tasks.
class WorkerPool {
public:
  void add(Worker::Task task);

private:
  std::vector<std::unique_ptr<Worker>> workers;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COLLECTIVES_WORKER_H
