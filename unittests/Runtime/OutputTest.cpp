//===- OutputTest.cpp - who writes an output, and what if it fails --------===//

#include "Core/Error.h"
#include "Core/OutputLock.h"
#include "Metrics/EventFile.h"
#include "Metrics/OutputFile.h"
#include "TemporaryDirectory.h"

#include <bit>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <sys/wait.h>
#include <unistd.h>

using namespace dtc::rt;

namespace {

/// What taking both fails with; empty if it does not.
std::string takeBoth(const std::string &one, const std::string &other) {
  try {
    OutputLock lock;
    lock.take("--one", one);
    lock.take("--other", other);
    return {};
  } catch (const Error &error) {
    return error.what();
  }
}

} // namespace

TEST(OutputLock, OneFileHasManyNames) {
  TemporaryDirectory folder;
  std::string file = folder / "file", missing = folder / "missing";
  folder.write("file", "x");
  std::filesystem::create_directory(folder / "sub");
  std::filesystem::create_hard_link(file, folder / "sub/hard");
  std::filesystem::create_symlink("file", folder / "soft");
  for (auto [one, other] : {std::pair(file, file),
                            {file, folder / "./file"},
                            {file, folder / "sub/../file"},
                            {file, folder / "soft"},
                            {file, folder / "sub/hard"},
                            {missing, folder / "sub/../missing"},
                            {folder / "sub", folder / "sub/"}})
    EXPECT_NE(takeBoth(one, other).find("which are one file, expected one"),
              std::string::npos)
        << one << " and " << other;
  EXPECT_EQ(takeBoth(file, missing), "");
  EXPECT_EQ(takeBoth(file, folder / "sub/file"), "");
  EXPECT_EQ(takeBoth("/dev/null", "/dev/null"), "");
  EXPECT_EQ(takeBoth("/nonexistent/a", "/nonexistent/a"), "");
}

TEST(OutputLock, AKilledJobLeavesNothing) {
  TemporaryDirectory folder;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t job = fork();
  if (job == 0) {
    OutputLock lock;
    lock.take("--metrics", folder / "m");
    (void)!write(ready[1], "x", 1);
    pause();
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  OutputLock mine;
  try {
    mine.take("--trace", folder / "m");
    ADD_FAILURE() << "two jobs have one file";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("another training"),
              std::string::npos);
  }
  kill(job, SIGKILL);
  waitpid(job, nullptr, 0);
  mine.take("--trace", folder / "m");
  EXPECT_FALSE(std::filesystem::exists(folder / "m"));
}

TEST(OutputFile, WarnsOnceOfAFullDisk) {
  OutputFile full("/dev/full", /*append=*/false);
  EXPECT_EQ(full.write("line\n", 7),
            "cannot write '/dev/full': No space left on device; it has nothing "
            "from step 7 on; training continues");
  EXPECT_EQ(full.write("line\n", 8), "");
  EXPECT_THROW(OutputFile("/dev/full", false).begin("x"), Error);
  EXPECT_THROW(OutputFile("/nonexistent/m", false), Error);
}

TEST(OutputFile, AppendsWholeLines) {
  TemporaryDirectory folder;
  folder.write("m", "one\ntw");
  OutputFile(folder / "m", /*append=*/true).begin("three\n");
  EXPECT_EQ(readFile(folder / "m"), "one\ntw\nthree\n");
  OutputFile(folder / "m", /*append=*/false).begin("four\n");
  EXPECT_EQ(readFile(folder / "m"), "four\n");
}

//===----------------------------------------------------------------------===//
// TensorBoard
//===----------------------------------------------------------------------===//

TEST(EventFile, ChecksumsAreThoseOfTheStandard) {
  // RFC 3720, B.4, and the usual check value of CRC-32C.
  std::string up, down;
  for (int i = 0; i < 32; ++i) {
    up += char(i);
    down += char(31 - i);
  }
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c(up), 0x46dd794eu);
  EXPECT_EQ(crc32c(down), 0x113fdb5cu);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
}

namespace {

/// Reads protobuf: enough for events.
struct Message {
  std::string_view rest;

  uint64_t readVarint() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      uint8_t byte = uint8_t(rest.at(0));
      rest.remove_prefix(1);
      value |= uint64_t(byte & 127) << shift;
      if (byte < 128)
        return value;
    }
  }

  template <typename T> T readFixed() {
    T value;
    memcpy(&value, rest.substr(0, sizeof value).data(), sizeof value);
    rest.remove_prefix(sizeof value);
    return value;
  }

  std::string_view readBytes() {
    size_t size = readVarint();
    std::string_view bytes = rest.substr(0, size);
    rest.remove_prefix(size);
    return bytes;
  }
};

struct Event {
  double time = 0;
  uint64_t step = 0;
  std::string version, session;
  std::map<std::string, float> scalars;
};

Event readEvent(std::string_view text) {
  Event event;
  for (Message message{text}; !message.rest.empty();)
    switch (message.readVarint()) {
    case 1 << 3 | 1:
      event.time = message.readFixed<double>();
      break;
    case 2 << 3:
      event.step = message.readVarint();
      break;
    case 3 << 3 | 2:
      event.version = message.readBytes();
      break;
    case 5 << 3 | 2:
      for (Message summary{message.readBytes()}; !summary.rest.empty();) {
        EXPECT_EQ(summary.readVarint(), 1u << 3 | 2);
        Message value{summary.readBytes()};
        EXPECT_EQ(value.readVarint(), 1u << 3 | 2);
        std::string tag(value.readBytes());
        EXPECT_EQ(value.readVarint(), 2u << 3 | 5);
        event.scalars[tag] = value.readFixed<float>();
      }
      break;
    case 7 << 3 | 2:
      event.session = message.readBytes();
      break;
    default:
      ADD_FAILURE() << "unknown field";
      return event;
    }
  return event;
}

uint32_t masked(std::string_view data) {
  return std::rotr(crc32c(data), 15) + 0xa282ead8u;
}

std::vector<Event> readEvents(const std::string &file) {
  std::vector<Event> events;
  for (Message records{file}; !records.rest.empty();) {
    std::string_view length = records.rest.substr(0, 8);
    size_t size = records.readFixed<uint64_t>();
    EXPECT_EQ(records.readFixed<uint32_t>(), masked(length));
    std::string_view data = records.rest.substr(0, size);
    records.rest.remove_prefix(size);
    EXPECT_EQ(records.readFixed<uint32_t>(), masked(data));
    events.push_back(readEvent(data));
  }
  return events;
}

} // namespace

TEST(EventFile, ReadsBack) {
  TemporaryDirectory folder;
  {
    EventFile file(folder / "", /*resumedAtStep=*/200);
    file.write(StepMetrics{201, 2.5, 1.25, 1e-3, 0.5, 64, {}});
    file.write(EvalMetrics{300, 0.25, {}, 0.75});
  }
  std::vector<std::string> names;
  for (auto &entry : std::filesystem::directory_iterator(folder / ""))
    names.push_back(entry.path().filename());
  ASSERT_EQ(names.size(), 1u);
  EXPECT_EQ(names[0].rfind("events.out.tfevents.", 0), 0u) << names[0];
  EXPECT_TRUE(names[0].ends_with("." + std::to_string(getpid())));
  std::string text = readFile(folder / names[0]);
  std::vector<Event> events = readEvents(text);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_NEAR(events[0].time, double(time(nullptr)), 60);
  EXPECT_EQ(events[1].session, "\x08\x01");
  EXPECT_EQ(events[1].step, 201u);
  EXPECT_EQ(events[2].step, 201u);
  EXPECT_EQ(events[2].scalars,
            (std::map<std::string, float>{{"loss", 2.5f},
                                          {"grad_norm", 1.25f},
                                          {"lr", 1e-3f},
                                          {"samples_per_second", 64.0f}}));
  EXPECT_EQ(events[3].step, 300u);
  EXPECT_EQ(events[3].scalars,
            (std::map<std::string, float>{{"eval/loss", 0.25f},
                                          {"eval/accuracy", 0.75f}}));
}
