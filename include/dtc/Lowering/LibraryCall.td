//===- LibraryCall.td - ops that libraries compute ---------*- tablegen -*-===//

#ifndef DTC_LOWERING_LIBRARYCALL_TD
#define DTC_LOWERING_LIBRARYCALL_TD

include "mlir/IR/OpBase.td"

def DTC_LibraryCallInterface : OpInterface<"LibraryCallInterface"> {
  let cppNamespace = "::dtc";
  let description = [{
    An op that a library of the target's runtime computes: one call in a plan.
    Models are attached by `registerLibraryCallModels`.
  }];
  let methods = [
    InterfaceMethod<"Function that the library must have.", "::dtc::LibraryFunction",
                    "getLibraryFunction">,
    InterfaceMethod<"Whether the library's attention, if it is that, has limits "
                    "that the op keeps to.",
                    "bool", "isWithin",
                    (ins "const ::dtc::AttentionLimits &":$limits),
      /*methodBody=*/[{}], /*defaultImplementation=*/[{ return true; }]>,
    InterfaceMethod<"Builds the call.", "void", "buildCall",
                    (ins "::dtc::FunctionLowering &":$function)>,
  ];
}

#endif // DTC_LOWERING_LIBRARYCALL_TD
