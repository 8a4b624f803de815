//===- OutputTest.cpp - writers of an output, and their failures ----------===//

#include "Core/Error.h"
#include "Metrics/EventFile.h"
#include "Metrics/RecordFile.h"
#include "System/OutputLock.h"
#include "TemporaryDirectory.h"

#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dtc::rt;

namespace {

/// The error of claiming both files; empty if there is none.
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
  for (const auto &[one, other] : {std::pair(file, file),
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

TEST(RecordFile, WarnsOnceOfAFullDisk) {
  RecordFile full("/dev/full", /*append=*/false);
  EXPECT_EQ(full.write("line\n", 7),
            "cannot write '/dev/full': No space left on device; it has nothing "
            "from step 7 on; training continues");
  EXPECT_EQ(full.write("line\n", 8), "");
  RecordFile alone("/dev/full", false);
  EXPECT_EQ(alone.writeAlone("table\n", "there is no table"),
            "cannot write '/dev/full': No space left on device; there is no "
            "table; training continues");
  EXPECT_THROW(RecordFile("/dev/full", false).begin("x"), Error);
  EXPECT_THROW(RecordFile("/nonexistent/m", false), Error);
}

TEST(RecordFile, AppendsWholeLines) {
  TemporaryDirectory folder;
  folder.write("m", "one\ntw");
  RecordFile(folder / "m", /*append=*/true).begin("three\n");
  EXPECT_EQ(readFile(folder / "m"), "one\ntw\nthree\n");
  RecordFile(folder / "m", /*append=*/false).begin("four\n");
  EXPECT_EQ(readFile(folder / "m"), "four\n");
}

//===----------------------------------------------------------------------===//
// TensorBoard
//===----------------------------------------------------------------------===//

namespace {

/// A file of events by TensorBoard's own writer, in hexadecimal.
constexpr const char *tensorBoardEvents =
#include "TensorBoardEvents.inc"
    ;
constexpr double tensorBoardTime = 1.75e9; ///< of all of them

/// The records of a file with TensorBoard's times, in hexadecimal.
std::string withTensorBoardTime(std::string_view file) {
  std::string records;
  while (!file.empty()) {
    uint64_t size = 0;
    memcpy(&size, file.data(), sizeof size);
    std::string data(file.substr(12, size));
    std::string record = makeRecord(data);
    EXPECT_EQ(record, file.substr(0, record.size()));
    file.remove_prefix(record.size());
    double written = 0; // after its tag
    memcpy(&written, data.data() + 1, sizeof written);
    EXPECT_NEAR(written, double(time(nullptr)), 60);
    memcpy(data.data() + 1, &tensorBoardTime, sizeof tensorBoardTime);
    records += makeRecord(data);
  }
  std::string text;
  for (unsigned char byte : records)
    text += format("%02x", byte);
  return text;
}

} // namespace

TEST(EventFile, HasTheBytesOfTensorBoard) {
  TemporaryDirectory folder;
  {
    EventFile file(folder / "", /*resumedAtStep=*/200);
    file.write(StepMetrics{201, 2.5, 1.25, 1e-3, 0.5, 64, 1024, true, 8192});
    EvalMetrics evaluation{300, 0.25};
    evaluation.accuracy = 0.75;
    file.write(evaluation);
  }
  std::vector<std::string> names;
  for (auto &entry : std::filesystem::directory_iterator(folder / ""))
    names.push_back(entry.path().filename());
  ASSERT_EQ(names.size(), 1u);
  EXPECT_EQ(names[0].rfind("events.out.tfevents.", 0), 0u) << names[0];
  EXPECT_TRUE(names[0].ends_with("." + std::to_string(getpid())));
  EXPECT_EQ(withTensorBoardTime(readFile(folder / names[0])),
            tensorBoardEvents);
}
