//===- Dialect.td - the dtc dialect ------------------------*- tablegen -*-===//

#ifndef DTC_DIALECT_DIALECT_TD
#define DTC_DIALECT_DIALECT_TD

include "mlir/IR/OpBase.td"

def DTC_Dialect : Dialect {
  let name = "dtc";
  let cppNamespace = "::dtc";
  let summary = "Distributed training: tensors with layouts, and plans";
  let description = [{
    Tensor ops at the granularity of the training field, optimizer updates,
    layout changes, collectives, and the ops of a pipeline stage's plan.

    How a value is distributed is part of its type: the encoding of a ranked
    tensor is a `#dtc.layout`. The shape of a type is always the logical one.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
  let hasCanonicalizer = 1;
}

#endif // DTC_DIALECT_DIALECT_TD
