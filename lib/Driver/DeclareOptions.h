//===- DeclareOptions.h - the tables as LLVM's options ----------*- C++ -*-===//

#ifndef DTC_LIB_DRIVER_DECLAREOPTIONS_H
#define DTC_LIB_DRIVER_DECLAREOPTIONS_H

#include "dtc/Driver/Driver.h"
#include "llvm/Support/CommandLine.h"
#include <deque>

namespace dtc {

/// An option that reads its values into a field.
class FieldOption : public llvm::cl::Option {
public:
  using Reader = std::function<llvm::Error(llvm::StringRef)>;

  FieldOption(const OptionRow &row, bool isFlag, Reader read);

private:
  const llvm::cl::basic_parser_impl &getParser() const;

  bool handleOccurrence(unsigned position, llvm::StringRef name,
                        llvm::StringRef text) override;
  llvm::cl::ValueExpected getValueExpectedFlagDefault() const override;
  size_t getOptionWidth() const override;
  void printOptionInfo(size_t width) const override;
  void printOptionValue(size_t, bool) const override {}
  void setDefault() override {}

  bool isFlag;
  Reader read;
  // How LLVM shows flags, and options with a value.
  llvm::cl::parser<bool> flagParser{*this};
  llvm::cl::parser<std::string> valueParser{*this};
};

/// All options, while they are parsed into `options`.
class DeclaredOptions {
public:
  explicit DeclaredOptions(DriverOptions &options);

  llvm::ArrayRef<const llvm::cl::OptionCategory *> getCategories() const {
    return allCategories;
  }

private:
  /// The options of a table: a struct that is, or has the base, `Table`.
  template <typename Table>
  void declare(Table &fields, llvm::cl::OptionCategory &category);
  template <typename Field>
  void declare(const OptionRow &row, Field &field,
               llvm::cl::OptionCategory &category);
  /// The values of options whose values other tables list.
  void nameValues();
  /// LLVM's options refer to texts.
  llvm::StringRef keep(std::string text);

  llvm::cl::OptionCategory model{"Model"}, plan{"Plan"}, training{"Training"},
      output{"Output"};
  const llvm::cl::OptionCategory *allCategories[4] = {&model, &plan, &training,
                                                      &output};
  std::deque<std::string> texts;
  std::deque<FieldOption> declared;
  std::deque<llvm::cl::alias> otherNames;
};

} // namespace dtc

#endif // DTC_LIB_DRIVER_DECLAREOPTIONS_H
