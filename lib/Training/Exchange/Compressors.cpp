//===- Compressors.cpp - table of gradient compressors --------------------===//
//
// See Compressors.h.
//
//===----------------------------------------------------------------------===//

#include "dtc/Training/Compressors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cmath>

using namespace dtc;
using llvm::Twine;
using Kind = CompressorKind;
using Number = CompressorNumber;

static constexpr CompressorTraits compressors[] = {
    {Kind::TopK, "topk", Number::Ratio},
    {Kind::RandK, "randk", Number::Ratio},
    {Kind::Sign, "sign", Number::None, /*block=*/1024, /*bits=*/1},
    {Kind::Int8, "int8", Number::None, 256, 8},
    {Kind::Int4, "int4", Number::None, 64, 4},
    {Kind::Qsgd, "qsgd", Number::Levels, 512, 8},
    {Kind::PowerSgd, "powersgd", Number::Rank},
};

static const char *getNumberName(Number number) {
  switch (number) {
  case Number::None:
    return "";
  case Number::Ratio:
    return ":R";
  case Number::Levels:
    return ":S";
  case Number::Rank:
    return ":RANK";
  }
  return "";
}

/// Describes the valid numbers of a compressor if the number is not one.
static const char *findNumberError(Number kind, double number) {
  bool isWhole = number == std::floor(number);
  switch (kind) {
  case Number::None:
    return nullptr;
  case Number::Ratio:
    return number > 0 && number <= 1
               ? nullptr
               : "a share of the elements, above 0 and at most 1";
  case Number::Levels:
    return isWhole && number >= 1 && number <= 127
               ? nullptr
               : "a whole number of levels from 1 to 127";
  case Number::Rank:
    return isWhole && number >= 1 && number <= 1024
               ? nullptr
               : "a whole rank from 1 to 1024";
  }
  return nullptr;
}

llvm::Expected<std::optional<Compressor>>
Compressor::parse(llvm::StringRef text) {
  if (text == "none")
    return std::nullopt;
  auto [name, rest] = text.split(':');
  const auto *found = llvm::find_if(
      compressors, [&](const auto &traits) { return name == traits.name; });
  auto expected = [] {
    return llvm::join(llvm::map_range(compressors,
                                      [](const CompressorTraits &traits) {
                                        return std::string(traits.name) +
                                               getNumberName(traits.number);
                                      }),
                      ", ");
  };
  if (found == std::end(compressors))
    return llvm::createStringError("--compress is '" + Twine(text) +
                                   "', expected none or one of " + expected());
  Compressor compressor{found};
  bool hasNumber = text.contains(':');
  if (hasNumber != (found->number != Number::None) ||
      (hasNumber && rest.getAsDouble(compressor.number)))
    return llvm::createStringError("--compress is '" + Twine(text) +
                                   "', expected " + found->name +
                                   getNumberName(found->number));
  if (const char *valid = findNumberError(found->number, compressor.number))
    return llvm::createStringError("--compress is '" + Twine(text) +
                                   "': " + rest + " is not " + valid);
  return std::optional<Compressor>(compressor);
}

int Compressor::getBits() const {
  // Codes from -7 to 7 fit into four bits.
  if (traits->kind == Kind::Qsgd && number <= 7)
    return 4;
  return traits->bits;
}

int64_t Compressor::getCount(int64_t size) const {
  auto count = static_cast<int64_t>(std::llround(number * double(size)));
  return std::clamp<int64_t>(count, 1, size);
}

int64_t dtc::getBlockSize(llvm::StringRef text) {
  llvm::Expected<std::optional<Compressor>> parsed = Compressor::parse(text);
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return 1;
  }
  return *parsed ? (*parsed)->traits->block : 1;
}

llvm::Expected<ErrorFeedback> ErrorFeedback::parse(llvm::StringRef given) {
  llvm::StringRef text = given;
  if (text == "on")
    return ErrorFeedback{Residual};
  if (text == "ef21")
    return ErrorFeedback{Estimate};
  if (text == "off")
    return ErrorFeedback{Off};
  ErrorFeedback feedback{Momentum};
  if (text.consume_front("dgc:") && !text.getAsDouble(feedback.momentum) &&
      feedback.momentum >= 0 && feedback.momentum < 1)
    return feedback;
  return llvm::createStringError(
      "--error-feedback is '" + Twine(given) +
      "', expected on, ef21, off, or dgc:M with a momentum of at least 0 and "
      "below 1");
}
