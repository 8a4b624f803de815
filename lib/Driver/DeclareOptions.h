//===- DeclareOptions.h - the tables as LLVM's options ----------*- C++ -*-===//

#ifndef DTC_LIB_DRIVER_DECLAREOPTIONS_H
#define DTC_LIB_DRIVER_DECLAREOPTIONS_H

#include "dtc/Driver/Driver.h"
#include "llvm/Support/CommandLine.h"
#include <deque>

namespace dtc {

/// An option that parses its values into a field.
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
  // LLVM prints help for flags, and for options with a value, with these
  // parsers.
  llvm::cl::parser<bool> flagParser{*this};
  llvm::cl::parser<std::string> valueParser{*this};
};

/// All options, as long as they are parsed into `options`.
class DeclaredOptions {
public:
  explicit DeclaredOptions(DriverOptions &options);

  llvm::ArrayRef<const llvm::cl::OptionCategory *> getCategories() const {
    return allCategories;
  }

private:
  /// Declares the options of a table: a struct that is `Table`, or has it as a
  /// base.
  template <typename Table>
  void declare(Table &fields, llvm::cl::OptionCategory &category);
  template <typename Field>
  void declare(const OptionRow &row, Field &field,
               llvm::cl::OptionCategory &category);
  /// Adds values that other tables list, such as optimizers, to the help.
  void nameValues();
  /// Keeps a text alive as long as LLVM's options refer to it.
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
