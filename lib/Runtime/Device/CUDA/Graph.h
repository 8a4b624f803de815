//===- Graph.h - the work of a plan, given to the GPU at once ---*- C++ -*-===//
//
// A plan makes the same calls with the same arguments in every step, because
// all that differs, such as inputs, the learning rate and the seed, is in the
// arena. So its calls are captured once and launched as one graph.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CUDA_GRAPH_H
#define DTC_LIB_RUNTIME_DEVICE_CUDA_GRAPH_H

#include "Driver.h"

namespace dtc::rt {

class Graph {
public:
  Graph() = default;
  ~Graph();
  Graph(const Graph &) = delete;

  /// Captures the work that `calls` puts on the stream and on streams that wait
  /// for it, without running it. This stream must wait for all work on other
  /// streams.
  template <typename Calls> void capture(CUstream stream, const Calls &calls) {
    begin(stream);
    calls();
    end(stream);
  }
  bool isCaptured() const { return executable != nullptr; }
  void launch(CUstream stream) const;

private:
  static void begin(CUstream stream);
  void end(CUstream stream);

  CUgraphExec executable = nullptr;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CUDA_GRAPH_H
