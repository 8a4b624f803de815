//===- ElementTypes.cpp - MLIR's element types in dtc's table -------------===//

#include "dtc/Dialect/ElementTypes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

static const dtc::ElementType *findEntry(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    if (integer.getWidth() == 1)
      return &dtc::getElementType(DTC_BOOL);
    auto kind = integer.isUnsigned() ? dtc::ElementKind::Unsigned
                                     : dtc::ElementKind::Signed;
    for (const dtc::ElementType &entry : dtc::elementTypes)
      if (entry.kind == kind &&
          entry.bytes * 8 == static_cast<int>(integer.getWidth()))
        return &entry;
    return nullptr;
  }
  return llvm::TypeSwitch<Type, const dtc::ElementType *>(type)
      .Case([](Float32Type) { return &dtc::getElementType(DTC_F32); })
      .Case([](Float64Type) { return &dtc::getElementType(DTC_F64); })
      .Case([](Float16Type) { return &dtc::getElementType(DTC_F16); })
      .Case([](BFloat16Type) { return &dtc::getElementType(DTC_BF16); })
      .Default(nullptr);
}

const dtc::ElementType &dtc::getElementType(Type type) {
  if (const ElementType *entry = findEntry(getElementTypeOrSelf(type)))
    return *entry;
  std::string text;
  llvm::raw_string_ostream(text) << type;
  llvm::report_fatal_error(llvm::Twine("found element type of ") + text +
                           ", which dtc/Support/ElementType.h does not have");
}
