//===- EventFile.cpp - scalars for TensorBoard ----------------------------===//

#include "EventFile.h"

#include "Core/Error.h"

#include <array>
#include <bit>
#include <chrono>
#include <unistd.h>

using namespace dtc::rt;

//===----------------------------------------------------------------------===//
// TFRecord
//===----------------------------------------------------------------------===//

static constexpr std::array<uint32_t, 256> crcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit)
      value = value >> 1 ^ (value & 1 ? 0x82f63b78 : 0); // reflected
    table[i] = value;
  }
  return table;
}();

/// CRC-32C (Castagnoli), RFC 3720 section 12.1.
static uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (char byte : bytes)
    crc = crcTable[(crc ^ uint8_t(byte)) & 255] ^ crc >> 8;
  return ~crc;
}

/// Little endian, as protobuf's fixed32 and fixed64 are.
template <typename T> static void appendFixed(std::string &out, T value) {
  for (size_t i = 0; i < sizeof value; ++i)
    out += char(uint64_t(value) >> 8 * i);
}

/// TensorFlow's masked checksum: that of data which may contain checksums.
static uint32_t mask(uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8u; }

std::string dtc::rt::makeRecord(std::string_view data) {
  std::string record;
  appendFixed(record, uint64_t(data.size()));
  appendFixed(record, mask(crc32c(record)));
  record += data;
  appendFixed(record, mask(crc32c(data)));
  return record;
}

//===----------------------------------------------------------------------===//
// Protobuf's encoding of the messages that are needed
//===----------------------------------------------------------------------===//

static void appendVarint(std::string &out, uint64_t value) {
  for (; value >= 128; value >>= 7)
    out += char(value | 128);
  out += char(value);
}

enum WireType { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

static void appendTag(std::string &out, int field, WireType type) {
  appendVarint(out, uint64_t(field) << 3 | type);
}

static void appendBytes(std::string &out, int field, std::string_view text) {
  appendTag(out, field, bytes);
  appendVarint(out, text.size());
  out += text;
}

/// The fields that all events have: wall_time = 1, step = 2; a step of 0 is
/// left out, as protobuf does.
static std::string beginEvent(int64_t step) {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  std::string event;
  appendTag(event, 1, fixed64);
  appendFixed(event, std::bit_cast<uint64_t>(
                         std::chrono::duration<double>(now).count()));
  if (step) {
    appendTag(event, 2, varint);
    appendVarint(event, uint64_t(step));
  }
  return event;
}

//===----------------------------------------------------------------------===//
// EventFile
//===----------------------------------------------------------------------===//

static std::string makeName(const std::string &directory) {
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return format(
      "%s/events.out.tfevents.%lld.%s.%d", directory.c_str(),
      (long long)std::chrono::duration_cast<std::chrono::seconds>(now).count(),
      host, int(getpid()));
}

EventFile::EventFile(const std::string &directory,
                     std::optional<int64_t> resumedAtStep) {
  if (directory.empty())
    return;
  file = RecordFile(makeName(directory), /*append=*/false);
  std::string version = beginEvent(0);
  appendBytes(version, 3, "brain.Event:2"); // file_version
  file.begin(makeRecord(version));
  if (!resumedAtStep)
    return;
  std::string start = beginEvent(*resumedAtStep + 1);
  appendBytes(start, 7, "\x08\x01"); // session_log: status = 1 is START
  file.begin(makeRecord(start));
}

template <typename Metrics>
std::string EventFile::writeEvent(const Metrics &metrics) {
  if (!file.isOpen())
    return {};
  std::string summary;
  forEachNumber(metrics, [&](const char *, const char *tag, double number) {
    std::string value; // tag = 1, simple_value = 2
    appendBytes(value, 1, tag);
    appendTag(value, 2, fixed32);
    appendFixed(value, std::bit_cast<uint32_t>(float(number)));
    appendBytes(summary, 1, value);
  });
  std::string event = beginEvent(metrics.step);
  appendBytes(event, 5, summary);
  return file.write(makeRecord(event), metrics.step);
}

std::string EventFile::write(const StepMetrics &metrics) {
  return writeEvent(metrics);
}

std::string EventFile::write(const EvalMetrics &metrics) {
  return writeEvent(metrics);
}
