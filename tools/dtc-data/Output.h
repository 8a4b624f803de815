//===- Output.h - a folder that appears when it is complete -----*- C++ -*-===//

#ifndef DTC_TOOLS_DTC_DATA_OUTPUT_H
#define DTC_TOOLS_DTC_DATA_OUTPUT_H

#include "dtc/Support/ElementType.h"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace dtc::data {

/// Writes an array of samples to a .npy file, one after the other.
class ArrayWriter {
public:
  /// Throws if the file cannot be made.
  ArrayWriter(std::string path, dtc_dtype type, std::vector<int64_t> sample);
  ~ArrayWriter();
  ArrayWriter(const ArrayWriter &) = delete;
  ArrayWriter &operator=(const ArrayWriter &) = delete;

  /// Appends `count` samples. Throws if the file cannot be written, or the user
  /// stops the program.
  void append(const void *samples, int64_t count = 1);
  /// Writes the header, which has the number of samples, and closes.
  void finish();
  int64_t samples() const { return written; }

private:
  void writeHeader();
  [[noreturn]] void failToWrite() const;

  std::string path;
  dtc_dtype type;
  std::vector<int64_t> sample;
  size_t sampleBytes;
  int64_t written = 0;
  FILE *file;
};

/// The output folder. It is first `new` in a private temporary folder beside
/// the path, and gets its name at the end. The temporary folder is always
/// removed. Folders and files have the permissions that umask gives.
class OutputFolder {
public:
  /// Throws if the path exists and `replace` is false. With `replace`, throws
  /// if the path is not a folder that dtc-data wrote, or contains a source.
  OutputFolder(std::string path, bool replace,
               const std::vector<std::string> &sources);
  ~OutputFolder();

  /// Returns the path of a file in it, and makes the folders of the path.
  std::string file(const std::string &name) const;
  void writeText(const std::string &name, const std::string &text) const;
  /// Gives the folder its name.
  void finish();

private:
  std::string path, temporary;
  bool replace;
};

/// Samples with labels, some of which go to `valid`.
class SampleWriter {
public:
  SampleWriter(const OutputFolder &folder, const std::string &input,
               const std::string &labels, dtc_dtype inputType,
               std::vector<int64_t> sample, dtc_dtype labelType,
               std::vector<int64_t> labelSample = {});

  void append(bool isValid, const void *sample, const void *label);
  void finish();
  /// "60000 samples and 10000 in valid/".
  std::string describe() const;

private:
  struct Part {
    std::unique_ptr<ArrayWriter> samples, labels;
  };
  Part parts[2]; ///< training, then validation, made on demand
  const OutputFolder &folder;
  std::string input, labels;
  dtc_dtype inputType, labelType;
  std::vector<int64_t> sample, labelSample;
};

/// Returns the number of samples, or of other units, that go to `valid`. Throws
/// if a fraction above 0 is less than one of them.
int64_t countValid(int64_t samples, double fraction, const char *unit);

/// Selects the samples that go to `valid`: a fraction of them, drawn by a seed.
class Split {
public:
  Split(int64_t samples, double fraction, uint64_t seed);
  bool isValid(int64_t sample) const;

private:
  int64_t samples, valid;
  uint64_t seed;
};

} // namespace dtc::data

#endif // DTC_TOOLS_DTC_DATA_OUTPUT_H
