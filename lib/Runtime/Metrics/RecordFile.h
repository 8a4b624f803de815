//===- RecordFile.h - a file that may fail without harm ---------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_METRICS_RECORDFILE_H
#define DTC_LIB_RUNTIME_METRICS_RECORDFILE_H

#include <cstdint>
#include <string>
#include <string_view>

namespace dtc::rt {

/// A file of records. Each record is written at once, so a reader sees complete
/// records, and a job that is killed loses none. Before the training a failure
/// is an error. Later it is a warning: after the first record that cannot be
/// written no other is tried, and the training continues.
class RecordFile {
public:
  /// A file without a path: writes nothing.
  RecordFile() = default;
  /// Opens the file, at its end if `append`, else empty. Throws if it cannot.
  RecordFile(std::string path, bool append);
  RecordFile &operator=(RecordFile &&other) noexcept;
  ~RecordFile();

  bool isOpen() const { return file >= 0; }
  /// Writes the text before the first step. Throws an Error on failure.
  void begin(std::string_view record);
  /// Writes a record of this step. On failure returns a warning, once; the file
  /// then ends with the record before.
  std::string write(std::string_view record, int64_t step);
  /// The same for a file with one record. `rest` tells the user what is missing
  /// without it, and how to get it.
  std::string writeAlone(std::string_view record, const char *rest);

private:
  /// The error number of a failed write, after which the file is closed; else
  /// 0.
  int append(std::string_view record);

  std::string path;
  int file = -1;
  int64_t size = 0; ///< bytes of whole records
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_METRICS_RECORDFILE_H
