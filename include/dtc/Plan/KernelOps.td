//===- KernelOps.td - ops that can share a kernel ----------*- tablegen -*-===//

#ifndef DTC_PLAN_KERNELOPS_TD
#define DTC_PLAN_KERNELOPS_TD

include "mlir/IR/OpBase.td"

def DTC_KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    An op that generated kernels compute, and how it may be fused. Ops without
    it are library calls, views, communication.
  }];
  let methods = [
    InterfaceMethod<"The loops of the op: their shape and how they fuse.",
    "::dtc::KernelRole",
                    "getKernelRole">,
  ];
}

#endif // DTC_PLAN_KERNELOPS_TD
