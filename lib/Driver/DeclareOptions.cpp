//===- DeclareOptions.cpp - the tables as LLVM's options ------------------===//
//
// See DeclareOptions.h.
//
//===----------------------------------------------------------------------===//

#include "DeclareOptions.h"
#include "Fail.h"
#include "dtc/Options/ReadOption.h"
#include "dtc/Training/Optimizers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace dtc;
namespace cl = llvm::cl;

//===----------------------------------------------------------------------===//
// One option
//===----------------------------------------------------------------------===//

FieldOption::FieldOption(const OptionRow &row, bool isFlag, Reader read)
    : cl::Option(cl::ZeroOrMore,
                 row.place == OptionRow::Hidden ? cl::Hidden : cl::NotHidden),
      isFlag(isFlag), read(std::move(read)) {
  setArgStr(row.name);
  setValueStr(row.values);
}

const cl::basic_parser_impl &FieldOption::getParser() const {
  if (isFlag)
    return flagParser;
  return valueParser;
}

bool FieldOption::handleOccurrence(unsigned, StringRef, StringRef text) {
  llvm::Error error = read(text);
  if (!error)
    return false;
  (void)fail(llvm::toString(std::move(error)));
  return true;
}

cl::ValueExpected FieldOption::getValueExpectedFlagDefault() const {
  return isFlag ? cl::ValueOptional : cl::ValueRequired;
}

size_t FieldOption::getOptionWidth() const {
  return getParser().getOptionWidth(*this);
}

void FieldOption::printOptionInfo(size_t width) const {
  getParser().printOptionInfo(*this, width);
}

//===----------------------------------------------------------------------===//
// Help
//===----------------------------------------------------------------------===//

/// The defaults of a setting by optimizer, such as "0.9 for adam, adamw; 0.95
/// for lion". Optimizers without the setting are left out.
static std::string listDefaults(
    llvm::function_ref<std::optional<double>(const Optimizer &)> getDefault) {
  // Optimizers with the same default are grouped, in the order of the first.
  SmallVector<std::pair<double, std::string>> names;
  for (const Optimizer &optimizer : getOptimizers()) {
    std::optional<double> value = getDefault(optimizer);
    if (!value)
      continue;
    auto *found = llvm::find_if(
        names, [&](const auto &entry) { return entry.first == *value; });
    if (found == names.end())
      names.emplace_back(*value, optimizer.name);
    else
      found->second += std::string(", ") + optimizer.name;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::ListSeparator separator("; ");
  for (const auto &[value, list] : names)
    os << separator << llvm::format("%g", value) << " for " << list;
  return text;
}

/// The default of a field, or the defaults of an optimizer's setting.
template <typename Field>
static std::string printDefault(const OptionRow &row, const Field &field) {
  std::string text = printOption(row, field);
  if (!text.empty() || std::is_same_v<Field, bool>)
    return text;
  std::string setting = findSetting(row.name);
  return listDefaults([&](const Optimizer &optimizer) -> std::optional<double> {
    if (row.name == "lr")
      return optimizer.lr;
    auto found = optimizer.settings.find(setting);
    if (found == optimizer.settings.end())
      return std::nullopt;
    return found->second;
  });
}

template <typename Field>
static std::string describe(const OptionRow &row, const Field &field) {
  std::string text = row.help.str();
  if (std::is_same_v<Field, std::vector<std::string>> && !readsList(row))
    text += "; may be repeated";
  if (std::string value = printDefault(row, field); !value.empty())
    text += " (default " + value + ")";
  return text;
}

//===----------------------------------------------------------------------===//
// All options
//===----------------------------------------------------------------------===//

DeclaredOptions::DeclaredOptions(DriverOptions &options) {
  CompileOptions &compile = options.compile;
  declare<ModelOptions>(options.model, model);
  declare<TrainingOptions>(compile.training, training);
  declare<ParallelOptions>(compile.parallel, plan);
  declare<ScheduleOptions>(compile.schedule, plan);
  declare<TargetOptions>(compile.target, output);
  declare<OutputOptions>(options, output);
  nameValues();
}

template <typename Table>
void DeclaredOptions::declare(Table &fields, cl::OptionCategory &category) {
  Table::visit(fields, [&](const OptionRow &row, auto &field) {
    if (row.place != OptionRow::InPlanOnly)
      declare(row, field, category);
  });
}

template <typename Field>
void DeclaredOptions::declare(const OptionRow &row, Field &field,
                              cl::OptionCategory &category) {
  bool isFirst = true;
  FieldOption &option = declared.emplace_back(
      row, std::is_same_v<Field, bool>,
      [&row, &field, isFirst](StringRef text) mutable {
        // The first explicit value of a list replaces the default.
        if constexpr (std::is_same_v<Field, std::vector<std::string>>)
          if (isFirst)
            field.clear();
        isFirst = false;
        return readOption(row, text, field);
      });
  option.setDescription(keep(describe(row, field)));
  option.addCategory(category);
  option.addArgument();
  if (!row.otherName.empty())
    otherNames.emplace_back(
        row.otherName, cl::aliasopt(option), cl::cat(category),
        cl::desc(keep("Another name of --" + row.name.str())));
}

StringRef DeclaredOptions::keep(std::string text) {
  return texts.emplace_back(std::move(text));
}

void DeclaredOptions::nameValues() {
  std::string devices = llvm::join(
      llvm::map_range(Device::getAll(),
                      [](const Device &device) { return device.name; }),
      "|");
  std::string phases =
      llvm::join(llvm::map_range(allPhases, getPhaseName), "|");
  for (FieldOption &option : declared)
    if (option.ArgStr == "optimizer")
      option.setValueStr(keep(listOptimizers("|")));
    else if (option.ArgStr == "device")
      option.setValueStr(keep(devices));
    else if (option.ArgStr == "emit" || option.ArgStr == "stop-after")
      option.setValueStr(keep(phases));
}
