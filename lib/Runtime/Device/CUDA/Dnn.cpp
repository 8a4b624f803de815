//===- Dnn.cpp - convolutions by cuDNN ------------------------------------===//

#include "Dnn.h"

#include "Core/Context.h"
#include "Core/Error.h"
#include "CudaDevice.h"

using namespace dtc::rt;

// f32 without tensor cores wants copies of the images in another order.
constexpr int64_t mostWorkspaceBytes = int64_t(1) << 30;

Dnn::Dnn(CUstream stream) : stream(stream) {
  DTC_DNN(cudnnCreate(&handle));
  DTC_DNN(cudnnSetStream(handle, reinterpret_cast<cudaStream_t>(stream)));
}

Dnn::~Dnn() {
  programs.clear();
  DnnFunctions::get().cudnnDestroy(handle);
}

/// Grows the workspace, in the first step, when nothing needs the old one.
char *Dnn::reserve(int64_t bytes) {
  if (bytes == 0 || (workspace && workspace->size() >= bytes))
    return workspace ? reinterpret_cast<char *>(workspace->address()) : nullptr;
  DTC_CUDA(cuStreamSynchronize(stream));
  workspace.reset();
  try {
    workspace = std::make_unique<DeviceMemory>(bytes);
  } catch (const Error &error) {
    fatal("no workspace for cuDNN: %s", error.what());
  }
  return reinterpret_cast<char *>(workspace->address());
}

/// Bytes that an address is a multiple of, as far as engines care.
static int64_t alignmentOf(const void *address) {
  auto number = reinterpret_cast<uintptr_t>(address) | 256;
  return int64_t(number & -number);
}

void Dnn::convolve(const DnnConvolution &shape, void *x, void *weight,
                   void *y) {
  DnnProgram::Alignments alignments = {alignmentOf(x), alignmentOf(weight),
                                       alignmentOf(y)};
  auto known = programs.find({shape, alignments});
  if (known == programs.end()) {
    std::optional<DnnProgram> program = DnnProgram::find(
        {handle}, shape, alignments, usesTf32, mostWorkspaceBytes);
    if (!program)
      fatal("cuDNN has no deterministic engine for a convolution of %lld x "
            "%lld x %lld x %lld by %lld filters of %lld x %lld within %s",
            (long long)shape.n, (long long)shape.h, (long long)shape.w,
            (long long)shape.c, (long long)shape.filters, (long long)shape.kh,
            (long long)shape.kw,
            formatBytes(double(mostWorkspaceBytes)).c_str());
    known = programs.emplace(std::pair(shape, alignments), std::move(*program))
                .first;
  }
  DnnProgram &program = known->second;
  program.run(handle, {x, weight, y}, reserve(program.workspaceBytes()));
}
