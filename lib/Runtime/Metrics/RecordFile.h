//===- RecordFile.h - a file that may fail without harm ---------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_METRICS_RECORDFILE_H
#define DTC_LIB_RUNTIME_METRICS_RECORDFILE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace dtc::rt {

/// A file of records, each written at once: whoever reads along sees whole
/// records, and a job that is killed has lost none. What can go wrong before
/// the training is an error. Afterwards it is a warning: the first record that
/// cannot be written is the last that is tried, and the training goes on.
class RecordFile {
public:
  /// None: writes nothing.
  RecordFile() = default;
  /// Opens the file, at its end if `append`, else empty. Throws if it cannot.
  RecordFile(std::string path, bool append);
  RecordFile &operator=(RecordFile &&other) noexcept;
  ~RecordFile();

  bool isOpen() const { return file >= 0; }
  /// Writes what comes before the first step. Throws if it cannot.
  void begin(std::string_view record);
  /// Writes a record of this step. Returns a warning for people, once, if it
  /// cannot; the file then ends with the record before.
  std::string write(std::string_view record, int64_t step);
  /// The same of a file with one record: without it, `rest` tells people what
  /// is missing and how to get it.
  std::string writeAlone(std::string_view record, const char *rest);

private:
  /// 0, or why it cannot; then the file is closed.
  int append(std::string_view record);

  std::string path;
  int file = -1;
  int64_t size = 0; ///< bytes of whole records
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_METRICS_RECORDFILE_H
