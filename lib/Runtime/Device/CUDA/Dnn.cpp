//===- Dnn.cpp - convolutions and attention by cuDNN ----------------------===//

#include "Dnn.h"

#include "Core/Error.h"
#include "Core/Fatal.h"
#include "CudaDevice.h"
#include "Device/Tuning.h"

#include <algorithm>

using namespace dtc::rt;

/// The number of plans of a graph that are measured. The library takes as long
/// to make one as many steps take.
static constexpr size_t mostMeasured = 4;

/// The library's first version without known errors in attention: numbers of
/// keys that 128 does not divide need a mask of their own up to 9.15, by
/// NVIDIA's cudnn-frontend.
static constexpr size_t versionForAttention = 91600;

static void requireVersionForAttention() {
  size_t version = DnnFunctions::get().cudnnGetVersion();
  if (version < versionForAttention)
    fatal("found cuDNN %zu.%zu, expected 9.16 or later, for attention of 16 "
          "bits; install its libraries, or say where they are in "
          "LD_LIBRARY_PATH",
          version / 10000, version / 100 % 100);
}

Dnn::Dnn(CUstream stream, int architecture)
    : stream(stream), architecture(architecture) {
  DTC_DNN(cudnnCreate(&handle));
  DTC_DNN(cudnnSetStream(handle, reinterpret_cast<cudaStream_t>(stream)));
}

Dnn::~Dnn() {
  convolutions.clear();
  attentions.clear();
  DnnFunctions::get().cudnnDestroy(handle);
}

std::string Dnn::describe() {
  return format("cuDNN %zu", DnnFunctions::get().cudnnGetVersion());
}

/// Plans stay: the next step may be captured, and none may be made meanwhile.
void Dnn::tuneBy(Tuning &other) {
  tuning = &other;
  for (auto &[shape, program] : convolutions)
    program.isTuned = false;
  for (auto &[shape, program] : attentions)
    program.isTuned = false;
}

DnnTarget Dnn::target() {
  refusal.clear();
  return {handle, nullptr, tuning ? mostMeasured : 1, &refusal, architecture};
}

/// Ends the job, with what the library said.
void Dnn::fatalWithoutEngine(const std::string &what) const {
  fatal("cuDNN has no deterministic engine for %s within %s%s", what.c_str(),
        formatBytes(double(workspaceBytes)).c_str(),
        refusal.empty() ? "" : ("; the last it refused: " + refusal).c_str());
}

/// Allocates all of the workspace at its first use, because graphs of steps
/// keep its address.
char *Dnn::reserve(int64_t bytes) {
  if (bytes == 0)
    return nullptr;
  if (!workspace)
    workspace = DeviceMemory::makeInStep("cuDNN's workspace", workspaceBytes,
                                         /*isZeroed=*/false);
  return reinterpret_cast<char *>(workspace->address());
}

/// The alignment of an address, as far as engines need it.
static int64_t alignmentOf(const void *address) {
  auto number = reinterpret_cast<uintptr_t>(address) | dnnAlignment;
  return int64_t(number & -number);
}

void Dnn::convolve(const DnnConvolution &shape, void *x, void *weight,
                   void *y) {
  DnnAlignments alignments = {alignmentOf(x), alignmentOf(weight),
                              alignmentOf(y)};
  auto known = convolutions.find({shape, alignments});
  if (known == convolutions.end()) {
    std::optional<DnnProgram> program =
        findConvolution(target(), shape, alignments, usesTf32, workspaceBytes);
    if (!program)
      fatalWithoutEngine(
          format("a convolution of %lld x %lld x %lld x %lld by %lld filters "
                 "of %lld x %lld",
                 (long long)shape.n, (long long)shape.h, (long long)shape.w,
                 (long long)shape.c, (long long)shape.filters,
                 (long long)shape.kh, (long long)shape.kw));
    known =
        convolutions.emplace(std::pair(shape, alignments), std::move(*program))
            .first;
  }
  DnnProgram &program = known->second;
  std::array<const void *, 3> operands = {x, weight, y};
  if (isToTune(program)) {
    // A call that adds to its result is measured on memory of its own.
    std::unique_ptr<DeviceMemory> result;
    auto places = operands;
    tune(program, nameOf(shape, alignments), [&] {
      if (shape.accumulate && !result) {
        result = DeviceMemory::makeInStep("--autotune", resultBytesOf(shape));
        places[size_t(resultOf(shape.role))] =
            reinterpret_cast<const void *>(result->address());
      }
      return std::span(places);
    });
  }
  run(program, operands);
}

/// The offset of a sample's group in an operand of findAttentionGrad, in bytes.
static int64_t offsetOf(const DnnAttention &s, int operand, int64_t sample,
                        int64_t group) {
  int64_t head = group * (s.heads / s.groups);
  auto at = [&](int64_t length, DnnAttention::Strides strides, int64_t number) {
    return (sample * length * strides.token + number * strides.head) * 2;
  };
  switch (operand) {
  case 0:
  case 7:
    return at(s.rows, s.queries, head);
  case 1:
  case 8:
    return at(s.cols, s.keys, group);
  case 2:
  case 9:
    return at(s.cols, s.values, group);
  case 3: {
    int64_t number = s.maskDims & DTC_MASK_HEADS ? head : 0;
    if (s.maskDims & DTC_MASK_BATCH)
      number += sample * (s.maskDims & DTC_MASK_HEADS ? s.allHeads : 1);
    return number * (s.maskDims & DTC_MASK_QUERIES ? s.rows : 1) * s.cols * 2;
  }
  case 5:
    return (sample * s.allHeads + head) * s.rows * 4;
  default:
    return at(s.rows, s.result, head);
  }
}

/// The workspace limits the gradient to so many samples, or heads of a sample,
/// at once, because it keeps their scores' gradients in 16 bits.
void Dnn::attend(const DnnAttention &shape, bool isGrad,
                 std::span<const void *const> operands) {
  int64_t perGroup =
      scoreBytesOf(shape.rows, shape.cols, shape.heads / shape.groups);
  int64_t room = isGrad ? scoreBudgetOf(workspaceBytes) / perGroup
                        : shape.batch * shape.groups;
  int64_t groups = std::clamp<int64_t>(room, 1, shape.groups);
  while (shape.groups % groups)
    --groups;
  int64_t samples = std::clamp<int64_t>(room / shape.groups, 1, shape.batch);
  for (int64_t sample = 0; sample < shape.batch; sample += samples)
    for (int64_t group = 0; group < shape.groups; group += groups) {
      DnnAttention part = shape;
      part.batch = std::min(samples, shape.batch - sample);
      part.groups = groups;
      part.heads = shape.heads / shape.groups * groups;
      DnnAddresses own;
      for (size_t i = 0; i < operands.size(); ++i)
        own[i] = operands[i] ? static_cast<const char *>(operands[i]) +
                                   offsetOf(shape, int(i), sample, group)
                             : nullptr;
      attendPart(part, isGrad, std::span(own).first(operands.size()));
    }
}

void Dnn::attendPart(const DnnAttention &shape, bool isGrad,
                     std::span<const void *const> operands) {
  auto known = attentions.find({shape, isGrad});
  if (known == attentions.end()) {
    requireVersionForAttention();
    std::optional<DnnProgram> program =
        isGrad ? findAttentionGrad(target(), shape, workspaceBytes)
               : findAttention(target(), shape, workspaceBytes);
    if (!program)
      fatalWithoutEngine(format(
          "%s of %lld x %lld queries and %lld keys, %lld heads of %lld,",
          isGrad ? "the gradient of attention" : "attention",
          (long long)shape.batch, (long long)shape.rows, (long long)shape.cols,
          (long long)shape.heads, (long long)shape.width));
    known =
        attentions.emplace(std::pair(shape, isGrad), std::move(*program)).first;
  }
  DnnProgram &program = known->second;
  if (isToTune(program))
    tune(program, nameOf(shape, isGrad), [&] { return operands; });
  run(program, operands);
}

void Dnn::tune(DnnProgram &program, const std::string &what,
               const std::function<std::span<const void *const>()> &operands) {
  CudaTimer timer(stream);
  program.tune(*tuning, what, timer, handle, operands,
               reserve(program.workspaceBytes()));
}

void Dnn::run(DnnProgram &program, std::span<const void *const> operands) {
  program.run(handle, operands, reserve(program.workspaceBytes()));
}
