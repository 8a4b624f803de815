//===- Output.cpp - a folder that appears when it is complete -------------===//

#include "Output.h"

#include "Core/Error.h"
#include "Data/Shuffle.h"
#include "Stop.h"
#include "System/PathWithin.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

using namespace dtc;
using namespace dtc::data;
using dtc::rt::fail;
using dtc::rt::format;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Room for the header, whose length does not depend on the number of samples.
static constexpr size_t headerBytes = 256;

ArrayWriter::ArrayWriter(std::string name, dtc_dtype type,
                         std::vector<int64_t> shape)
    : path(std::move(name)), type(type), sample(std::move(shape)),
      sampleBytes(size_t(sizeOf(type))), file(fopen(path.c_str(), "wbx")) {
  for (int64_t size : sample)
    sampleBytes *= size_t(size);
  if (!file)
    fail("cannot create '%s': %s", path.c_str(), strerror(errno));
  writeHeader();
}

ArrayWriter::~ArrayWriter() {
  if (file)
    fclose(file);
}

void ArrayWriter::failToWrite() const {
  fail("cannot write '%s': %s", path.c_str(), strerror(errno));
}

void ArrayWriter::writeHeader() {
  const ElementType &element = getElementType(type);
  std::string shape = "(" + std::to_string(written) + ",";
  for (size_t i = 0; i < sample.size(); ++i)
    shape += (i ? ", " : " ") + std::to_string(sample[i]);
  std::string text =
      format("{'descr': '%c%s', 'fortran_order': False, "
             "'shape': %s), }",
             element.bytes == 1 ? '|' : '<', element.npy, shape.c_str());
  text.resize(headerBytes - 11, ' ');
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += char(text.size() & 255);
  header += char(text.size() >> 8);
  header += text;
  if (fseek(file, 0, SEEK_SET) != 0 ||
      fwrite(header.data(), 1, header.size(), file) != header.size())
    failToWrite();
}

void ArrayWriter::append(const void *samples, int64_t count) {
  throwIfStopped();
  if (fwrite(samples, sampleBytes, size_t(count), file) != size_t(count))
    failToWrite();
  written += count;
}

void ArrayWriter::finish() {
  writeHeader();
  if (fclose(std::exchange(file, nullptr)) != 0)
    failToWrite();
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

/// Throws if a folder has files that dtc-data does not write: these must not be
/// removed.
static void expectOwn(const std::string &path, const fs::path &folder) {
  for (const fs::directory_entry &entry : fs::directory_iterator(folder)) {
    fs::path name = entry.path().filename();
    if (entry.is_directory() && !entry.is_symlink() && name == "valid")
      expectOwn(path, entry.path());
    else if (!entry.is_regular_file() ||
             (name.extension() != ".npy" && name != "classes.txt" &&
              name != "columns.txt"))
      fail("'%s' has '%s', which dtc-data did not write; --force replaces only "
           "the output of an earlier conversion",
           path.c_str(), entry.path().c_str());
  }
}

static void expectReplaceable(const std::string &path,
                              const std::vector<std::string> &sources) {
  fs::file_status status = fs::symlink_status(path);
  if (status.type() == fs::file_type::not_found)
    return;
  if (status.type() != fs::file_type::directory)
    fail("'%s' is not a folder; --force replaces only the folder of an "
         "earlier conversion",
         path.c_str());
  for (const std::string &source : sources)
    if (!rt::pathWithin(path, source).empty())
      fail("'%s' has the input '%s', and --force would remove it; give another "
           "-o",
           path.c_str(), source.c_str());
  expectOwn(path, path);
}

OutputFolder::OutputFolder(std::string name, bool replace,
                           const std::vector<std::string> &sources)
    : path(std::move(name)), replace(replace) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  std::error_code error;
  if (fs::symlink_status(path, error).type() != fs::file_type::not_found &&
      !replace)
    fail("'%s' exists; --force replaces it", path.c_str());
  if (replace)
    expectReplaceable(path, sources);
  temporary = path + ".part-XXXXXX";
  if (!mkdtemp(temporary.data()))
    fail("cannot create a folder beside '%s': %s", path.c_str(),
         strerror(errno));
}

OutputFolder::~OutputFolder() {
  std::error_code error;
  if (!temporary.empty())
    fs::remove_all(temporary, error);
}

std::string OutputFolder::file(const std::string &name) const {
  fs::path file = fs::path(temporary) / "new" / name;
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  return file.string();
}

void OutputFolder::writeText(const std::string &name,
                             const std::string &text) const {
  std::string target = file(name);
  FILE *stream = fopen(target.c_str(), "wbx");
  bool isWritten =
      stream && fwrite(text.data(), 1, text.size(), stream) == text.size();
  if ((stream && fclose(stream) != 0) || !isWritten)
    fail("cannot write '%s': %s", target.c_str(), strerror(errno));
}

void OutputFolder::finish() {
  std::error_code error;
  std::string old = temporary + "/old", made = temporary + "/new";
  bool exists =
      fs::symlink_status(path, error).type() != fs::file_type::not_found;
  if (exists && !replace)
    fail("'%s' exists; --force replaces it", path.c_str());
  if (exists && rename(path.c_str(), old.c_str()) != 0)
    fail("cannot replace '%s': %s", path.c_str(), strerror(errno));
  if (rename(made.c_str(), path.c_str()) != 0) {
    std::string what =
        format("cannot create '%s': %s", path.c_str(), strerror(errno));
    if (exists && rename(old.c_str(), path.c_str()) != 0) {
      temporary.clear(); // keeps the user's data, which is in this folder
      fail("%s; the old folder is now '%s'", what.c_str(), old.c_str());
    }
    fail("%s", what.c_str());
  }
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

SampleWriter::SampleWriter(const OutputFolder &folder, const std::string &input,
                           const std::string &labels, dtc_dtype inputType,
                           std::vector<int64_t> sample, dtc_dtype labelType,
                           std::vector<int64_t> labelSample)
    : folder(folder), input(input), labels(labels), inputType(inputType),
      labelType(labelType), sample(std::move(sample)),
      labelSample(std::move(labelSample)) {
  for (const std::string &name : {input, labels})
    if (name.empty() || name.find('/') != std::string::npos || name[0] == '.')
      fail("found '%s' as the name of an array, expected a valid file name",
           name.c_str());
  if (input == labels)
    fail("found '%s' as the name of inputs and labels, expected two names",
         input.c_str());
}

void SampleWriter::append(bool isValid, const void *values, const void *label) {
  Part &part = parts[isValid];
  if (!part.samples) {
    std::string prefix = isValid ? "valid/" : "";
    part.samples = std::make_unique<ArrayWriter>(
        folder.file(prefix + input + ".npy"), inputType, sample);
    part.labels = std::make_unique<ArrayWriter>(
        folder.file(prefix + labels + ".npy"), labelType, labelSample);
  }
  part.samples->append(values);
  part.labels->append(label);
}

void SampleWriter::finish() {
  for (Part &part : parts)
    if (part.samples) {
      part.samples->finish();
      part.labels->finish();
    }
  if (!parts[0].samples)
    fail("no sample remains for the training; expected a smaller --valid");
}

std::string SampleWriter::describe() const {
  int64_t count = parts[0].samples->samples();
  std::string text =
      format("%lld sample%s", (long long)count, count == 1 ? "" : "s");
  if (parts[1].samples)
    text +=
        format(" and %lld in valid/", (long long)parts[1].samples->samples());
  return text;
}

int64_t dtc::data::countValid(int64_t samples, double fraction,
                              const char *unit) {
  auto valid = int64_t(double(samples) * fraction);
  if (fraction > 0 && valid == 0)
    fail("found --valid %g of %lld %s, which is less than one; give a larger "
         "fraction, or more data",
         fraction, (long long)samples, unit);
  return valid;
}

Split::Split(int64_t samples, double fraction, uint64_t seed)
    : samples(samples), valid(countValid(samples, fraction, "samples")),
      seed(seed) {}

bool Split::isValid(int64_t sample) const {
  return valid && rt::Permutation(samples, seed, 0)[sample] < valid;
}
