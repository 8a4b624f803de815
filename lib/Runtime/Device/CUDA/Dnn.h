//===- Dnn.h - convolutions and attention by cuDNN --------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_DEVICE_CUDA_DNN_H
#define DTC_LIB_RUNTIME_DEVICE_CUDA_DNN_H

#include "DnnAttention.h"
#include "DnnConvolution.h"
#include "Driver.h"
#include "dtc/Runtime/DeviceReserve.h"

namespace dtc::rt {

class DeviceMemory;
class Tuning;

/// Convolutions and attention on one stream. The library's objects for a shape
/// are created at its first use, and kept.
class Dnn {
public:
  /// Throws an Error if there is no library.
  Dnn(CUstream stream, int architecture);
  ~Dnn();

  void convolve(const DnnConvolution &shape, void *x, void *weight, void *y);
  /// Operands are as findAttention has them, or findAttentionGrad.
  void attend(const DnnAttention &shape, bool isGrad,
              std::span<const void *const> operands);

  /// From now on, `tuning` chooses the plans.
  void tuneBy(Tuning &other);
  /// "cuDNN 91900".
  static std::string describe();

  /// f32 convolutions may round their operands to tf32.
  bool usesTf32 = false;
  int64_t workspaceBytes = networkWorkspaceBytes; ///< at most

private:
  void attendPart(const DnnAttention &shape, bool isGrad,
                  std::span<const void *const> operands);
  DnnTarget target();
  [[noreturn]] void fatalWithoutEngine(const std::string &what) const;
  bool isToTune(const DnnProgram &program) const {
    return tuning && !program.isTuned;
  }
  void tune(DnnProgram &program, const std::string &what,
            const std::function<std::span<const void *const>()> &operands);
  void run(DnnProgram &program, std::span<const void *const> operands);
  char *reserve(int64_t bytes);

  CUstream stream;
  int architecture; ///< 90 for sm_90
  cudnnHandle_t handle = nullptr;
  std::unique_ptr<DeviceMemory> workspace;
  std::map<std::pair<DnnConvolution, DnnAlignments>, DnnProgram> convolutions;
  /// By whether they are gradients.
  std::map<std::pair<DnnAttention, bool>, DnnProgram> attentions;
  std::string refusal; ///< the library's last words to a search for a plan
  Tuning *tuning = nullptr;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_DEVICE_CUDA_DNN_H
