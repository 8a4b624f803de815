//===- Dnn.h - convolutions by cuDNN ----------------------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CUDA_DNN_H
#define DTC_LIB_RUNTIME_DEVICE_CUDA_DNN_H

#include "DnnGraph.h"
#include "Driver.h"

#include <memory>

namespace dtc::rt {

class DeviceMemory;

/// A convolution as dtcrt_conv2d has it.
struct DnnConvolution {
  dtc_dtype dtype;
  dtc_conv_role role;
  bool accumulate, keepsSums;
  int64_t n, h, w, c, oh, ow, kh, kw;
  int64_t strideH, strideW, padTop, padLeft, dilationH, dilationW;
  int64_t filters, groups;

  auto operator<=>(const DnnConvolution &) const = default;
};

/// Plans that compute a call one after the other, on the operands and on
/// temporaries in the workspace.
class DnnProgram {
public:
  /// Of x, weight and y, in bytes.
  using Alignments = std::array<int64_t, 3>;
  /// Nothing if the library has no plan within `workspaceBytes`.
  static std::optional<DnnProgram> find(const DnnTarget &target,
                                        const DnnConvolution &shape,
                                        const Alignments &alignments,
                                        bool usesTf32, int64_t workspaceBytes);

  /// Of all plans, with the temporaries.
  int64_t workspaceBytes() const;
  /// Operands are x, weight and y.
  void run(cudnnHandle_t handle, const std::array<const void *, 3> &operands,
           char *workspace);

private:
  /// One of the operands, or what begins at an offset of the workspace.
  struct Place {
    int operand = -1;
    int64_t offset = 0;
  };
  struct Step {
    DnnPlan plan;
    std::vector<Place> tensors;
  };
  struct Search;

  std::vector<Step> steps;
  int64_t temporaryBytes = 0;
};

/// Convolutions on one stream. What the library needs to know of a shape is
/// made when it is first met, and kept.
class Dnn {
public:
  /// Throws an Error if there is no library.
  explicit Dnn(CUstream stream);
  ~Dnn();

  void convolve(const DnnConvolution &shape, void *x, void *weight, void *y);

  /// f32 convolutions may round their operands to tf32.
  bool usesTf32 = false;

private:
  char *reserve(int64_t bytes);

  CUstream stream;
  cudnnHandle_t handle = nullptr;
  std::unique_ptr<DeviceMemory> workspace;
  std::map<std::pair<DnnConvolution, DnnProgram::Alignments>, DnnProgram>
      programs;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CUDA_DNN_H
