//===- Driver.cpp - the functions of CUDA's driver ------------------------===//

#include "Driver.h"

#include "Core/Error.h"
#include "Library.h"

using namespace dtc::rt;

const char *CudaDriver::describe(CUresult result) const {
  static thread_local std::string text;
  const char *name = nullptr, *meaning = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &meaning);
  text = format("%s (%s)", name ? name : "unknown error",
                meaning ? meaning : "no description");
  return text.c_str();
}

static CudaDriver open() {
  static const Library library(
      "NVIDIA driver", {"libcuda.so.1"},
      "run it on a machine with an NVIDIA GPU and its driver");
  CudaDriver loaded;
  DTC_CUDA_FUNCTIONS(DTC_LOAD)
  int devices = 0;
  CUresult result = loaded.cuInit(0);
  if (result == CUDA_SUCCESS)
    result = loaded.cuDeviceGetCount(&devices);
  if (result != CUDA_SUCCESS)
    fail("the NVIDIA driver does not start: %s; see nvidia-smi",
         loaded.describe(result));
  if (devices == 0)
    fail("found no NVIDIA GPU, expected at least one; see nvidia-smi and "
         "CUDA_VISIBLE_DEVICES");
  return loaded;
}

const CudaDriver &CudaDriver::get() {
  static const CudaDriver driver = open();
  return driver;
}
