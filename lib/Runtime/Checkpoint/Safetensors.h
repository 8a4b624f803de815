//===- Safetensors.h - named tensors in one file ----------------*- C++ -*-===//
//
// https://github.com/huggingface/safetensors: eight bytes of header length, a
// JSON header with type, shape and place of each tensor, then their bytes.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_CHECKPOINT_SAFETENSORS_H
#define DTC_LIB_RUNTIME_CHECKPOINT_SAFETENSORS_H

#include "Core/Checksum.h"
#include "Core/Elements.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dtc::rt {

/// A view of a file's bytes. Throws an Error if they are not a complete file.
class SafetensorsReader {
public:
  struct Tensor {
    dtc_dtype dtype;
    std::vector<int64_t> shape;
    const char *data;
  };

  /// `name` is used in messages.
  SafetensorsReader(std::string name, std::string_view bytes);

  const std::string &name() const { return fileName; }
  /// Null when there is no such tensor.
  const Tensor *find(const std::string &tensor) const;
  const std::map<std::string, Tensor> &tensors() const { return entries; }
  /// The metadata that the file has under that name; empty if it has none.
  std::string metadata(const std::string &key) const;

private:
  std::string fileName;
  std::map<std::string, std::string> notes;
  std::map<std::string, Tensor> entries;
};

/// Writes a file under a temporary name; `commit` renames it. A writer that is
/// destroyed before `commit` leaves nothing behind. Throws an Error on any
/// failure.
class SafetensorsWriter {
public:
  struct Tensor {
    std::string name;
    dtc_dtype dtype;
    std::vector<int64_t> shape;
  };

  using Metadata = std::map<std::string, std::string>;

  SafetensorsWriter(std::string path, const std::vector<Tensor> &tensors,
                    const Metadata &metadata = {});
  ~SafetensorsWriter();
  SafetensorsWriter(const SafetensorsWriter &) = delete;

  /// The next tensor's bytes, in the order given at construction.
  void append(const void *data, int64_t bytes);
  void commit();

  /// Size and checksum of the bytes that were written so far.
  int64_t bytes() const { return written; }
  uint64_t checksum() const { return sum.value(); }

private:
  [[noreturn]] void failure(const char *action);
  void create();
  void flush();

  std::string path, temporary;
  int file = -1;
  /// Bytes that are not written yet, in memory that disks can read from. A
  /// large file passes through this buffer, and costs little processor time
  /// where it bypasses the kernel's cache.
  struct Free {
    void operator()(char *data) const { free(data); }
  };
  std::unique_ptr<char, Free> buffer;
  int64_t buffered = 0;
  int64_t written = 0;
  Checksum sum;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CHECKPOINT_SAFETENSORS_H
