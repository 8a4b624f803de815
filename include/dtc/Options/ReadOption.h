//===- ReadOption.h - values of options as text -----------------*- C++ -*-===//

#ifndef DTC_OPTIONS_READOPTION_H
#define DTC_OPTIONS_READOPTION_H

#include "dtc/Options/OptionRow.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace dtc {

/// Reads a value into the field of a row. A list gets one or more new elements.
/// The error is one line that names the option.
llvm::Error readOption(const OptionRow &row, llvm::StringRef text, bool &field);
llvm::Error readOption(const OptionRow &row, llvm::StringRef text,
                       int64_t &field);
llvm::Error readOption(const OptionRow &row, llvm::StringRef text,
                       double &field);
llvm::Error readOption(const OptionRow &row, llvm::StringRef text,
                       std::string &field);
llvm::Error readOption(const OptionRow &row, llvm::StringRef text,
                       std::vector<std::string> &field);
llvm::Error readOption(const OptionRow &row, llvm::StringRef text,
                       std::vector<double> &field);
template <typename T>
llvm::Error readOption(const OptionRow &row, llvm::StringRef text,
                       std::optional<T> &field) {
  return readOption(row, text, field.emplace());
}

/// The number of bytes of a size such as "80GiB".
llvm::Expected<int64_t> readBytes(llvm::StringRef option, llvm::StringRef text);

/// Whether a value of the row is a list.
bool readsList(const OptionRow &row);

/// A field's value as command-line text. Empty for a value that --help does not
/// show as a default: a flag, a count of 0, an empty text or list.
std::string printOption(const OptionRow &row, bool field);
std::string printOption(const OptionRow &row, int64_t field);
std::string printOption(const OptionRow &row, double field);
std::string printOption(const OptionRow &row, const std::string &field);
std::string printOption(const OptionRow &row,
                        const std::vector<std::string> &field);
std::string printOption(const OptionRow &row, const std::vector<double> &field);
template <typename T>
std::string printOption(const OptionRow &row, const std::optional<T> &field) {
  return field ? printOption(row, *field) : std::string();
}

} // namespace dtc

#endif // DTC_OPTIONS_READOPTION_H
