//===- Safetensors.h - named tensors in one file ----------------*- C++ -*-===//
//
// https://github.com/huggingface/safetensors: eight bytes of header length, a
// JSON header with type, shape and place of each tensor, then their bytes.
//
//===----------------------------------------------------------------------===//

#ifndef DTC_LIB_RUNTIME_CHECKPOINT_SAFETENSORS_H
#define DTC_LIB_RUNTIME_CHECKPOINT_SAFETENSORS_H

#include "Core/Elements.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dtc::rt {

/// A view of a file's bytes. Throws when they are not a whole file.
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

private:
  std::string fileName;
  std::map<std::string, Tensor> entries;
};

/// Writes a file under a temporary name; `commit` gives it its own. A writer
/// that is destroyed before leaves nothing behind. Throws on any failure.
class SafetensorsWriter {
public:
  struct Tensor {
    std::string name;
    dtc_dtype dtype;
    std::vector<int64_t> shape;
  };

  SafetensorsWriter(std::string path, const std::vector<Tensor> &tensors);
  ~SafetensorsWriter();
  SafetensorsWriter(const SafetensorsWriter &) = delete;

  /// The next tensor's bytes, in the order given at construction.
  void append(const void *data, int64_t bytes);
  void commit();

private:
  [[noreturn]] void failure(const char *action);

  std::string path, temporary;
  int file;
};

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_CHECKPOINT_SAFETENSORS_H
