//===- Safetensors.cpp - named tensors in one file ------------------------===//

#include "Safetensors.h"

#include "Core/Error.h"
#include "Core/ForeignJson.h"
#include "System/WriteFile.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <libgen.h>
#include <new>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace dtc::rt;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static dtc_dtype parseType(const std::string &name) {
  if (const dtc::ElementType *type =
          dtc::findElementType(&dtc::ElementType::safetensors, name))
    return type->code;
  fail("unknown element type '%s'", name.c_str());
}

static SafetensorsReader::Tensor readEntry(const nlohmann::json &entry,
                                           std::string_view data) {
  SafetensorsReader::Tensor tensor;
  tensor.dtype = parseType(entry.at("dtype"));
  tensor.shape = readWholes(entry.at("shape"));
  uint64_t begin = readWhole<uint64_t>(entry.at("data_offsets").at(0));
  uint64_t end = readWhole<uint64_t>(entry.at("data_offsets").at(1));
  if (begin > end || end > data.size())
    fail("bytes %llu to %llu of %zu", (unsigned long long)begin,
         (unsigned long long)end, data.size());
  if (end - begin !=
      uint64_t(elementCount(tensor.shape)) * sizeOf(tensor.dtype))
    fail("%llu bytes for shape %s", (unsigned long long)(end - begin),
         formatShape(tensor.shape).c_str());
  tensor.data = data.data() + begin;
  return tensor;
}

SafetensorsReader::SafetensorsReader(std::string name, std::string_view bytes)
    : fileName(std::move(name)) {
  uint64_t length = 0;
  if (bytes.size() >= 8)
    memcpy(&length, bytes.data(), 8);
  if (bytes.size() < 8 || length > bytes.size() - 8)
    fail("%s is no safetensors file, or truncated: found %zu bytes, expected "
         "a header of %llu",
         fileName.c_str(), bytes.size(), (unsigned long long)length);
  std::string_view header = bytes.substr(8, length);
  std::string_view data = bytes.substr(8 + length);
  std::string tensor = "the header";
  try {
    auto parsed = parseJson<nlohmann::json>(header);
    for (auto &[key, entry] : parsed.items()) {
      tensor = "tensor '" + key + "'";
      if (key == "__metadata__")
        notes = entry.get<std::map<std::string, std::string>>();
      else
        entries.emplace(key, readEntry(entry, data));
    }
  } catch (const std::exception &error) {
    fail("%s is corrupt at %s: %s", fileName.c_str(), tensor.c_str(),
         describeJsonError<nlohmann::json>(error).c_str());
  }
}

const SafetensorsReader::Tensor *
SafetensorsReader::find(const std::string &tensor) const {
  auto found = entries.find(tensor);
  return found == entries.end() ? nullptr : &found->second;
}

std::string SafetensorsReader::metadata(const std::string &key) const {
  auto found = notes.find(key);
  return found == notes.end() ? std::string() : found->second;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string
makeHeader(const std::vector<SafetensorsWriter::Tensor> &tensors,
           const SafetensorsWriter::Metadata &metadata) {
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"format", "pt"}};
  header["__metadata__"].update(metadata);
  int64_t offset = 0;
  for (auto &tensor : tensors) {
    int64_t end = offset + elementCount(tensor.shape) * sizeOf(tensor.dtype);
    header[tensor.name] = {
        {"dtype", dtc::getElementType(tensor.dtype).safetensors},
        {"shape", tensor.shape},
        {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' '); // tensors start aligned
  return text;
}

SafetensorsWriter::SafetensorsWriter(std::string target,
                                     const std::vector<Tensor> &tensors,
                                     const Metadata &metadata)
    : path(std::move(target)), temporary(temporaryBeside(path)) {
  expectReplaceable(path);
  create();
  std::string header = makeHeader(tensors, metadata);
  uint64_t length = header.size();
  append(&length, 8);
  append(header.data(), int64_t(length));
}

SafetensorsWriter::~SafetensorsWriter() {
  if (file < 0)
    return;
  close(file);
  unlink(temporary.c_str());
}

void SafetensorsWriter::failure(const char *action) {
  int error = errno;
  if (file >= 0) {
    close(file);
    unlink(temporary.c_str());
    file = -1;
  }
  fail("cannot %s '%s': %s", action, path.c_str(), strerror(error));
}

/// Size of the buffer. Its address and the writes from it are multiples of
/// `alignment`.
static constexpr int64_t bufferBytes = 1 << 20, alignment = 4096;

void SafetensorsWriter::create() {
  constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  file = open(temporary.c_str(), flags | O_DIRECT, 0666);
  if (file < 0 && errno == EINVAL) // there are file systems without
    file = open(temporary.c_str(), flags, 0666);
  if (file < 0)
    failure("create");
  buffer.reset(static_cast<char *>(aligned_alloc(alignment, bufferBytes)));
  if (!buffer)
    throw std::bad_alloc();
}

void SafetensorsWriter::flush() {
  const char *at = buffer.get();
  // The last write has any size, and so has a write that a signal interrupted.
  while (buffered > 0) {
    int flags = fcntl(file, F_GETFL);
    if (flags & O_DIRECT && buffered % alignment)
      fcntl(file, F_SETFL, flags & ~O_DIRECT);
    ssize_t count = write(file, at, size_t(buffered));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      failure("write");
    at += count;
    buffered -= count;
  }
}

void SafetensorsWriter::append(const void *data, int64_t bytes) {
  const char *at = static_cast<const char *>(data);
  sum.update(data, bytes);
  written += bytes;
  while (bytes > 0) {
    int64_t count = std::min(bytes, bufferBytes - buffered);
    memcpy(buffer.get() + buffered, at, size_t(count));
    buffered += count;
    if (buffered == bufferBytes)
      flush();
    at += count;
    bytes -= count;
  }
}

void SafetensorsWriter::commit() {
  flush();
  if (fsync(file) != 0)
    failure("sync");
  if (close(file) != 0) {
    file = -1;
    unlink(temporary.c_str());
    failure("close");
  }
  file = -1;
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    int error = errno;
    unlink(temporary.c_str());
    errno = error;
    failure("rename to");
  }
  std::string copy = path;
  syncFolder(dirname(copy.data()));
}
