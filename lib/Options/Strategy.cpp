//===- Strategy.cpp - options as an attribute -----------------------------===//
//
// The attribute has an entry for each field that differs from its default, with
// the name of its option.
//
//===----------------------------------------------------------------------===//

#include "dtc/Options/Strategy.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dtc;

static constexpr llvm::StringLiteral attributeName = "dtc.strategy";

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static Attribute toAttribute(Builder &b, int64_t value) {
  return b.getI64IntegerAttr(value);
}
static Attribute toAttribute(Builder &b, bool value) {
  return b.getBoolAttr(value);
}
static Attribute toAttribute(Builder &b, double value) {
  return b.getF64FloatAttr(value);
}
static Attribute toAttribute(Builder &b, const std::string &value) {
  return b.getStringAttr(value);
}
/// Null if there is none.
template <typename T>
static Attribute toAttribute(Builder &b, const std::optional<T> &value) {
  return value ? toAttribute(b, *value) : Attribute();
}
template <typename T>
static Attribute toAttribute(Builder &b, const std::vector<T> &values) {
  return b.getArrayAttr(llvm::map_to_vector(
      values, [&](const T &value) { return toAttribute(b, value); }));
}

void Strategy::set(ModuleOp module) const {
  const Strategy defaults;
  Builder builder(module.getContext());
  SmallVector<Attribute> ofDefaults;
  visit(defaults, [&](const OptionRow &, const auto &field) {
    ofDefaults.push_back(toAttribute(builder, field));
  });
  NamedAttrList entries;
  size_t next = 0;
  visit(*this, [&](const OptionRow &row, const auto &field) {
    Attribute value = toAttribute(builder, field);
    if (value != ofDefaults[next++])
      entries.set(row.name, value);
  });
  module->setAttr(attributeName, entries.getDictionary(module.getContext()));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static bool read(Attribute attribute, int64_t &value) {
  auto integer = dyn_cast<IntegerAttr>(attribute);
  if (integer)
    value = integer.getInt();
  return bool(integer);
}
static bool read(Attribute attribute, bool &value) {
  auto flag = dyn_cast<BoolAttr>(attribute);
  if (flag)
    value = flag.getValue();
  return bool(flag);
}
static bool read(Attribute attribute, double &value) {
  auto number = dyn_cast<FloatAttr>(attribute);
  if (number)
    value = number.getValueAsDouble();
  return bool(number);
}
static bool read(Attribute attribute, std::string &value) {
  auto text = dyn_cast<StringAttr>(attribute);
  if (text)
    value = text.str();
  return bool(text);
}
template <typename T>
static bool read(Attribute attribute, std::optional<T> &value) {
  return read(attribute, value.emplace());
}
template <typename T>
static bool read(Attribute attribute, std::vector<T> &values) {
  auto array = dyn_cast<ArrayAttr>(attribute);
  if (!array)
    return false;
  values.assign(array.size(), T());
  for (auto [entry, value] : llvm::zip(array, values))
    if (!read(entry, value))
      return false;
  return true;
}

FailureOr<Strategy> Strategy::get(ModuleOp module) {
  Strategy strategy;
  Attribute attribute = module->getAttr(attributeName);
  if (!attribute)
    return strategy;
  auto given = dyn_cast<DictionaryAttr>(attribute);
  if (!given)
    return module.emitError(attributeName)
           << " is " << attribute << ", expected a dictionary of options";
  size_t known = 0;
  bool isValid = true;
  visit(strategy, [&](const OptionRow &row, auto &field) {
    Attribute value = given.get(row.name);
    if (!value)
      return;
    ++known;
    if (read(value, field))
      return;
    isValid = false;
    module.emitError(attributeName) << " has " << row.name << " = " << value
                                    << ", which is of another type";
  });
  if (known != given.size()) {
    llvm::StringSet<> names;
    visit(strategy,
          [&](const OptionRow &row, auto &) { names.insert(row.name); });
    for (NamedAttribute entry : given)
      if (!names.contains(entry.getName()))
        module.emitError(attributeName)
            << " has '" << entry.getName().getValue()
            << "', which is no option of dtc that a plan depends on";
    isValid = false;
  }
  if (!isValid)
    return failure();
  return strategy;
}
