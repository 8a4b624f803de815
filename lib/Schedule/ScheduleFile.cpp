//===- ScheduleFile.cpp - a pipeline schedule that a user wrote -----------===//
//
// Reads the tasks of each stage, and checks all that a schedule has to be.
//
//===----------------------------------------------------------------------===//

#include "dtc/Schedule/ScheduleFile.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <set>

using namespace mlir;
using namespace dtc;
using llvm::Twine;

namespace {

class Reader {
public:
  Reader(StringRef path, int64_t numStages, int64_t numMicrobatches)
      : path(path), numStages(numStages), numMicrobatches(numMicrobatches) {}

  llvm::Expected<PipelineSchedule> read();

private:
  /// An error in a line, from 1, or in the file as a whole, 0.
  llvm::Error fail(size_t line, const Twine &message) const {
    std::string place = line ? ":" + std::to_string(line) : "";
    return llvm::createStringError(Twine(path) + place + ": " + message);
  }
  llvm::Expected<Task> parseTask(size_t line, StringRef word) const;
  llvm::Error addStage(size_t line, StringRef text);
  llvm::Error checkDeadlock() const;

  StringRef path;
  int64_t numStages, numMicrobatches;
  PipelineSchedule schedule;
  std::vector<size_t> lines; ///< of each stage
};

llvm::Expected<Task> Reader::parseTask(size_t line, StringRef word) const {
  size_t kind = StringRef("FBW").find(word.front());
  int64_t microbatch;
  if (kind == StringRef::npos ||
      !llvm::all_of(word.drop_front(), llvm::isDigit) ||
      word.drop_front().getAsInteger(10, microbatch))
    return fail(line, "unknown task '" + word +
                          "', expected F, B or W and the number of a "
                          "micro-batch, such as F0");
  if (microbatch >= numMicrobatches)
    return fail(line, "'" + word + "' is of micro-batch " + Twine(microbatch) +
                          ", expected 0 to " + Twine(numMicrobatches - 1) +
                          ", those of --microbatches");
  return Task{static_cast<TaskKind>(kind), microbatch};
}

llvm::Error Reader::addStage(size_t line, StringRef text) {
  std::vector<Task> &tasks = schedule.emplace_back();
  lines.push_back(line);
  std::set<std::pair<int64_t, TaskKind>> seen;
  SmallVector<StringRef> words;
  llvm::SplitString(text, words);
  for (StringRef word : words) {
    llvm::Expected<Task> task = parseTask(line, word);
    if (!task)
      return task.takeError();
    Task before{TaskKind::F, task->microbatch};
    if (task->kind == TaskKind::W)
      before.kind = TaskKind::B;
    if (task->kind != TaskKind::F &&
        !seen.count({before.microbatch, before.kind}))
      return fail(line, Twine(printTask(*task)) + " comes before " +
                            printTask(before) + ", which it needs");
    if (!seen.insert({task->microbatch, task->kind}).second)
      return fail(line,
                  Twine(printTask(*task)) + " comes twice, expected once");
    tasks.push_back(*task);
  }
  for (int64_t m = 0; m < numMicrobatches; ++m)
    for (TaskKind kind : {TaskKind::F, TaskKind::B, TaskKind::W})
      if (!seen.count({m, kind}))
        return fail(line, Twine(printTask({kind, m})) +
                              " is missing, expected F, B and W of " +
                              Twine(numMicrobatches) + " micro-batches");
  return llvm::Error::success();
}

llvm::Error Reader::checkDeadlock() const {
  std::optional<Deadlock> found = findDeadlock(schedule);
  if (!found)
    return llvm::Error::success();
  std::string first = printTask(found->backward);
  std::string second = printTask(found->forward);
  return fail(lines[found->stage],
              Twine(first) + " of stage " + Twine(found->stage) +
                  " waits for that of stage " + Twine(found->stage + 1) +
                  ", which first runs " + second + " (line " +
                  Twine(lines[found->stage + 1]) +
                  "), which waits for that of stage " + Twine(found->stage) +
                  "; put one of them later");
}

llvm::Expected<PipelineSchedule> Reader::read() {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return fail(0, "cannot be read: " + file.getError().message());
  size_t number = 0;
  for (StringRef line : llvm::split((*file)->getBuffer(), '\n')) {
    ++number;
    StringRef text = line.split('#').first.trim();
    if (text.empty())
      continue;
    if (static_cast<int64_t>(schedule.size()) == numStages)
      return fail(number, "a line too many, expected " + Twine(numStages) +
                              ", one for each stage of --pp");
    if (llvm::Error error = addStage(number, text))
      return std::move(error);
  }
  if (static_cast<int64_t>(schedule.size()) < numStages)
    return fail(lines.empty() ? 0 : lines.back(),
                "lines of tasks: " + Twine(schedule.size()) + ", expected " +
                    Twine(numStages) + ", one for each stage of --pp");
  if (llvm::Error error = checkDeadlock())
    return std::move(error);
  return std::move(schedule);
}

} // namespace

bool dtc::isScheduleFile(StringRef name) {
  return name.find_first_of("/.") != StringRef::npos ||
         llvm::sys::fs::exists(name);
}

llvm::Expected<PipelineSchedule>
dtc::readScheduleFile(StringRef path, int64_t numStages,
                      int64_t numMicrobatches) {
  return Reader(path, numStages, numMicrobatches).read();
}

llvm::Expected<PipelineSchedule> dtc::getSchedule(StringRef nameOrPath,
                                                  int64_t numStages,
                                                  int64_t numMicrobatches,
                                                  int64_t numRounds) {
  if (auto schedule =
          makeNamedSchedule(nameOrPath, numStages, numMicrobatches, numRounds))
    return std::move(*schedule);
  if (!isScheduleFile(nameOrPath))
    return llvm::createStringError("unknown schedule '" + Twine(nameOrPath) +
                                   "', expected gpipe, 1f1b, zb-h1 or a file");
  llvm::Expected<PipelineSchedule> schedule =
      readScheduleFile(nameOrPath, numStages, numMicrobatches);
  if (schedule)
    repeatSchedule(*schedule, numMicrobatches, numRounds);
  return schedule;
}
