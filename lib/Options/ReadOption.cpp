//===- ReadOption.cpp - values of options as text -------------------------===//
//
// Options.h documents the valid values.
//
//===----------------------------------------------------------------------===//

#include "dtc/Options/ReadOption.h"
#include "ClassWeights.h"
#include "dtc/Options/Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace dtc;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static llvm::Error expect(StringRef name, StringRef text,
                          const llvm::Twine &expected) {
  return llvm::createStringError("--" + name + " is '" + text + "', expected " +
                                 expected);
}

/// Returns an error if the row has a fixed set of values that lacks `text`.
static llvm::Error checkChoice(const OptionRow &row, StringRef text) {
  auto isName = [](char c) {
    return llvm::isDigit(c) || llvm::isLower(c) || c == '-' || c == '|';
  };
  if (!row.values.contains('|') || !llvm::all_of(row.values, isName))
    return llvm::Error::success();
  llvm::SmallVector<StringRef> choices;
  row.values.split(choices, '|');
  if (llvm::is_contained(choices, text))
    return llvm::Error::success();
  return expect(row.name, text, llvm::join(choices, " or "));
}

llvm::Error dtc::readOption(const OptionRow &row, StringRef text, bool &field) {
  field = llvm::is_contained({"", "1", "true"}, text);
  if (field || llvm::is_contained({"0", "false"}, text))
    return llvm::Error::success();
  return expect(row.name, text, "true or false");
}

llvm::Error dtc::readOption(const OptionRow &row, StringRef text,
                            int64_t &field) {
  if (row.values == "SIZE") {
    llvm::Expected<int64_t> bytes = readBytes(row.name, text);
    if (!bytes)
      return bytes.takeError();
    field = *bytes;
    return llvm::Error::success();
  }
  bool mayBeAuto = row.values == "N|auto";
  if (mayBeAuto && text == "auto") {
    field = autoCount;
    return llvm::Error::success();
  }
  if (llvm::Error error = checkChoice(row, text))
    return error;
  if (text.getAsInteger(0, field))
    return expect(row.name, text,
                  mayBeAuto ? "a whole number or auto" : "a whole number");
  bool isCount = mayBeAuto || row.values == "N";
  if (isCount && (field < 1 || field > maxCount))
    return llvm::createStringError("--" + row.name + " is " +
                                   llvm::Twine(field) + ", expected 1 to " +
                                   llvm::Twine(maxCount));
  return llvm::Error::success();
}

llvm::Error dtc::readOption(const OptionRow &row, StringRef text,
                            double &field) {
  if (text.getAsDouble(field))
    return expect(row.name, text, "a number");
  return llvm::Error::success();
}

llvm::Error dtc::readOption(const OptionRow &row, StringRef text,
                            std::string &field) {
  field = text.str();
  return checkChoice(row, text);
}

llvm::Error dtc::readOption(const OptionRow &row, StringRef text,
                            std::vector<std::string> &field) {
  if (!readsList(row)) {
    field.push_back(text.str());
    return llvm::Error::success();
  }
  for (StringRef element : llvm::split(text, ','))
    field.push_back(element.str());
  return llvm::Error::success();
}

llvm::Error dtc::readOption(const OptionRow &, StringRef text,
                            std::vector<double> &field) {
  llvm::Expected<std::vector<double>> weights = readClassWeights(text);
  if (!weights)
    return weights.takeError();
  field = *weights;
  return llvm::Error::success();
}

llvm::Expected<int64_t> dtc::readBytes(StringRef option, StringRef text) {
  StringRef number = text;
  int64_t unit = 1, size = 1;
  for (StringRef name : {"KiB", "MiB", "GiB", "TiB"}) {
    size *= 1024;
    if (number.consume_back(name))
      unit = size;
  }
  int64_t count;
  std::optional<int64_t> bytes;
  if (!number.getAsInteger(10, count) && count > 0)
    bytes = llvm::checkedMul(count, unit);
  if (!bytes)
    return expect(option, text,
                  "a number of bytes, KiB, MiB, GiB or TiB, such as 80GiB");
  return *bytes;
}

bool dtc::readsList(const OptionRow &row) {
  return row.values.contains(",...");
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

std::string dtc::printOption(const OptionRow &, bool) { return ""; }

std::string dtc::printOption(const OptionRow &row, int64_t field) {
  if (row.values == "N" && field == 0)
    return "";
  constexpr int64_t GiB = int64_t(1) << 30;
  if (row.values == "SIZE" && field % GiB == 0)
    return std::to_string(field / GiB) + "GiB";
  return std::to_string(field);
}

std::string dtc::printOption(const OptionRow &, double field) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", field);
  return text;
}

std::string dtc::printOption(const OptionRow &, const std::string &field) {
  return field;
}

std::string dtc::printOption(const OptionRow &,
                             const std::vector<std::string> &field) {
  return llvm::join(field, ",");
}

std::string dtc::printOption(const OptionRow &, const std::vector<double> &) {
  return "";
}
