//===- Nccl.cpp - the functions of NCCL -----------------------------------===//

#include "Nccl.h"

#include "Device/CUDA/Library.h"

using namespace dtc::rt;

const Nccl &Nccl::get() {
  static const Nccl functions = [] {
    static const Library library("NCCL", {"libnccl.so.2"},
                                 "install it (libnccl2), or say where it is in "
                                 "LD_LIBRARY_PATH");
    Nccl loaded;
    DTC_NCCL_FUNCTIONS(DTC_LOAD)
    return loaded;
  }();
  return functions;
}
