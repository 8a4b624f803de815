//===- Graph.cpp - the work of a plan, given to the GPU at once -----------===//

#include "Graph.h"

#include "Core/Fatal.h"

using namespace dtc::rt;

/// Ends the job unless a call of the driver went well.
static void expectSuccess(CUresult result, const char *what) {
  if (result != CUDA_SUCCESS)
    fatal("%s failed: %s; run without graphs by --cuda-graph off", what,
          CudaDriver::get().describe(result));
}

Graph::~Graph() {
  if (executable)
    CudaDriver::get().cuGraphExecDestroy(executable);
}

void Graph::begin(CUstream stream) {
  // Other threads, such as NCCL's, may allocate meanwhile.
  expectSuccess(CudaDriver::get().cuStreamBeginCapture(
                    stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                "beginning to capture a step as a graph");
}

void Graph::end(CUstream stream) {
  const CudaDriver &driver = CudaDriver::get();
  CUgraph graph = nullptr;
  expectSuccess(driver.cuStreamEndCapture(stream, &graph),
                "capturing a step as a graph");
  // Communication goes first in graphs, too.
  expectSuccess(
      driver.cuGraphInstantiate(&executable, graph,
                                CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY),
      "instantiating the graph of a step");
  driver.cuGraphDestroy(graph);
}

void Graph::launch(CUstream stream) const {
  DTC_CUDA(cuGraphLaunch(executable, stream));
}
