//===- OptionValues.h - values that options accept --------------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_OPTIONS_OPTIONVALUES_H
#define DTC_LIB_RUNTIME_OPTIONS_OPTIONVALUES_H

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace dtc::rt {

/// A validator: a whole number of at least 1.
std::string atLeastOne(const std::string &text);
/// A validator: a whole number of at least 0.
std::string wholeNumber(const std::string &text);

/// Turns a name, whatever the case of its letters, into its value.
template <typename T>
CLI::Validator oneOf(const std::vector<std::pair<std::string, T>> &choices) {
  return CLI::Validator(
      [choices](std::string &text) {
        std::string expected;
        for (auto &[name, value] : choices) {
          if (CLI::detail::to_lower(text) == name) {
            text = std::to_string(int(value));
            return std::string();
          }
          expected += (expected.empty() ? "" : " or ") + name;
        }
        return "found '" + text + "', expected " + expected;
      },
      "");
}

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_OPTIONS_OPTIONVALUES_H
