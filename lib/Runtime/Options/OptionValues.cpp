//===- OptionValues.cpp - values that options accept ----------------------===//

#include "OptionValues.h"

using namespace dtc::rt;

std::string dtc::rt::atLeastOne(const std::string &text) {
  int64_t value;
  if (CLI::detail::lexical_cast(text, value) && value >= 1)
    return {};
  return "found '" + text + "', expected a whole number of at least 1";
}

std::string dtc::rt::wholeNumber(const std::string &text) {
  bool digits = !text.empty() && text.size() <= 19;
  for (char c : text)
    digits &= c >= '0' && c <= '9';
  if (digits)
    return {};
  return "found '" + text + "', expected a whole number of at least 0";
}
