//===- ScheduleFile.cpp - pipeline schedules from files -------------------===//
//
// Reads the tasks of each stage, and checks that the schedule can run.
//
//===----------------------------------------------------------------------===//

#include "dtc/Schedule/Order/ScheduleFile.h"
#include "dtc/Schedule/Order/NamedSchedules.h"
#include "dtc/Schedule/Order/Simulation.h"
#include "dtc/Support/ReadFile.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include <set>

using namespace mlir;
using namespace dtc;
using llvm::Twine;

namespace {

class Reader {
public:
  Reader(StringRef path, const Pipeline &pipeline)
      : path(path), pipeline(pipeline) {}

  llvm::Expected<PipelineSchedule> read();

private:
  /// Returns an error in a line, counted from 1, or in the whole file, 0.
  llvm::Error fail(size_t line, const Twine &message) const {
    std::string place = line ? ":" + std::to_string(line) : "";
    return llvm::createStringError(Twine(path) + place + ": " + message);
  }
  llvm::Error checkNumber(size_t line, StringRef word, const char *what,
                          int64_t found, int64_t count,
                          const char *option) const;
  llvm::Expected<Task> parseTask(size_t line, StringRef word) const;
  llvm::Error addStage(size_t line, StringRef text);
  llvm::Error checkDeadlock() const;

  StringRef path;
  const Pipeline &pipeline;
  PipelineSchedule schedule;
  std::vector<size_t> lines; ///< line of each stage
};

llvm::Error Reader::checkNumber(size_t line, StringRef word, const char *what,
                                int64_t found, int64_t count,
                                const char *option) const {
  if (found < count)
    return llvm::Error::success();
  return fail(line, "'" + word + "' is of " + what + " " + Twine(found) +
                        ", expected 0 to " + Twine(count - 1) + ", those of " +
                        option);
}

llvm::Expected<Task> Reader::parseTask(size_t line, StringRef word) const {
  auto parseNumber = [](StringRef digits, int64_t &number) {
    return llvm::all_of(digits, llvm::isDigit) &&
           !digits.getAsInteger(10, number);
  };
  size_t kind = StringRef("FBW").find(word.front());
  auto [digits, chunkDigits] = word.drop_front().split('.');
  int64_t microbatch, chunk = 0;
  if (kind == StringRef::npos || !parseNumber(digits, microbatch) ||
      (word.contains('.') && !parseNumber(chunkDigits, chunk)))
    return fail(line, "unknown task '" + word +
                          "', expected F, B or W and the number of a "
                          "micro-batch, such as F0, and of a chunk, if not the "
                          "first, such as F0.1");
  if (llvm::Error error =
          checkNumber(line, word, "micro-batch", microbatch,
                      pipeline.numMicrobatches, "--microbatches"))
    return std::move(error);
  if (llvm::Error error = checkNumber(line, word, "chunk", chunk,
                                      pipeline.numChunks, "--virtual-stages"))
    return std::move(error);
  return Task{static_cast<TaskKind>(kind), microbatch, chunk};
}

llvm::Error Reader::addStage(size_t line, StringRef text) {
  std::vector<Task> &tasks = schedule.emplace_back();
  lines.push_back(line);
  std::set<std::tuple<int64_t, int64_t, TaskKind>> seen;
  auto isSeen = [&](const Task &task) {
    return seen.count({task.microbatch, task.chunk, task.kind}) != 0;
  };
  SmallVector<StringRef> words;
  llvm::SplitString(text, words);
  for (StringRef word : words) {
    llvm::Expected<Task> task = parseTask(line, word);
    if (!task)
      return task.takeError();
    Task before = *task;
    before.kind = task->kind == TaskKind::W ? TaskKind::B : TaskKind::F;
    if (task->kind != TaskKind::F && !isSeen(before))
      return fail(line, Twine(printTask(*task)) + " comes before " +
                            printTask(before) + ", which it needs");
    if (isSeen(*task))
      return fail(line,
                  Twine(printTask(*task)) + " comes twice, expected once");
    seen.insert({task->microbatch, task->chunk, task->kind});
    tasks.push_back(*task);
  }
  for (int64_t m = 0; m < pipeline.numMicrobatches; ++m)
    for (int64_t chunk = 0; chunk < pipeline.numChunks; ++chunk)
      for (TaskKind kind : {TaskKind::F, TaskKind::B, TaskKind::W})
        if (!isSeen({kind, m, chunk}))
          return fail(line, Twine(printTask({kind, m, chunk})) +
                                " is missing, expected F, B and W of " +
                                Twine(pipeline.numMicrobatches) +
                                " micro-batches");
  return llvm::Error::success();
}

llvm::Error Reader::checkDeadlock() const {
  std::optional<Deadlock> found = findDeadlock(schedule, pipeline.numChunks);
  if (!found)
    return llvm::Error::success();
  std::string text;
  for (auto [stage, task] : found->cycle)
    text += text.empty()
                ? printTask(task) + " of stage " + std::to_string(stage)
                : std::to_string(stage) + ", which first runs " +
                      printTask(task) + " (line " +
                      std::to_string(lines[stage]) + "), which",
        text += " waits for that of stage ";
  int64_t first = found->cycle.front().stage;
  return fail(lines[first], text + Twine(first) + "; put one of them later");
}

llvm::Expected<PipelineSchedule> Reader::read() {
  auto file = readFile(path, /*isText=*/true);
  if (!file)
    return fail(0, llvm::toString(file.takeError()));
  size_t number = 0;
  for (StringRef line : llvm::split((*file)->getBuffer(), '\n')) {
    ++number;
    StringRef text = line.split('#').first.trim();
    if (text.empty())
      continue;
    if (static_cast<int64_t>(schedule.size()) == pipeline.numStages)
      return fail(number, "too many lines of tasks, expected " +
                              Twine(pipeline.numStages) +
                              ", one for each stage of --pp");
    if (llvm::Error error = addStage(number, text))
      return std::move(error);
  }
  if (static_cast<int64_t>(schedule.size()) < pipeline.numStages)
    return fail(lines.empty() ? 0 : lines.back(),
                "lines of tasks: " + Twine(schedule.size()) + ", expected " +
                    Twine(pipeline.numStages) + ", one for each stage of --pp");
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
dtc::readScheduleFile(StringRef path, const Pipeline &pipeline) {
  return Reader(path, pipeline).read();
}

llvm::Expected<PipelineSchedule> dtc::getSchedule(StringRef nameOrPath,
                                                  const Pipeline &pipeline) {
  if (isNamedSchedule(nameOrPath))
    return makeNamedSchedule(nameOrPath, pipeline);
  if (!isScheduleFile(nameOrPath))
    return llvm::createStringError("unknown schedule '" + Twine(nameOrPath) +
                                   "', expected " + scheduleNames +
                                   " or a file");
  llvm::Expected<PipelineSchedule> schedule =
      readScheduleFile(nameOrPath, pipeline);
  if (schedule)
    repeatSchedule(*schedule, pipeline);
  return schedule;
}
