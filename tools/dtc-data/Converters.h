//===- Converters.h - the formats of dtc-data -------------------*- C++ -*-===//
//
// Each converter fills a folder, and returns a summary for people. It throws an
// Error on input that violates its format.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_TOOLS_DTC_DATA_CONVERTERS_H
#define DTC_TOOLS_DTC_DATA_CONVERTERS_H

#include "Output.h"

#include <optional>

namespace dtc::data {

struct Settings {
  std::vector<std::string> sources;
  std::string input = "input", labels = "labels";
  std::optional<double> valid; ///< part of the samples
  uint64_t seed = 0;
  int64_t height = 0, width = 0; ///< of images; 0: unchanged
  int channels = 3;              ///< of `images`
  bool coarse = false;           ///< labels of CIFAR-100
  std::string tokenizer, endOfText;
  std::string label; ///< column
  bool regression = false;
  bool noHeader = false; ///< of a CSV: columns are named by their numbers
  std::string like;      ///< a folder of an earlier conversion; empty: none
};

/// idx files of MNIST (yann.lecun.com/exdb/mnist), plain or gzip.
std::string convertIdx(const Settings &settings, const OutputFolder &folder);
/// The binary version of CIFAR (cs.toronto.edu/~kriz/cifar.html).
std::string convertCifar(const Settings &settings, const OutputFolder &folder);
/// A folder per class with JPEG and PNG files.
std::string convertImages(const Settings &settings, const OutputFolder &folder);
std::string convertText(const Settings &settings, const OutputFolder &folder);
/// RFC 4180 with a header.
std::string convertCsv(const Settings &settings, const OutputFolder &folder);

} // namespace dtc::data

#endif // DTC_TOOLS_DTC_DATA_CONVERTERS_H
