//===- FinishOutput.cpp - options about phases and files ------------------===//

#include "CommandLine.h"
#include "Fail.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <map>

using namespace mlir;
using namespace dtc;

static LogicalResult findPhase(StringRef name, CompilePhase &phase) {
  for (CompilePhase candidate : allPhases) {
    phase = candidate;
    if (name.equals_insensitive(getPhaseName(phase)))
      return success();
  }
  return fail("unknown phase '" + name +
              "', expected import, strategy, training, parallel, schedule, "
              "lower or link");
}

static LogicalResult finishPhases(DriverOptions &options) {
  CompilePhase phase;
  if (!options.stopAfterName.empty()) {
    if (failed(findPhase(options.stopAfterName, phase)))
      return failure();
    options.stopAfter = phase;
  }
  if (!options.emitName.empty()) {
    if (failed(findPhase(options.emitName, phase)))
      return failure();
    if (phase == CompilePhase::Link)
      return fail("--emit=link has no IR to print; -o names the program");
    options.emit = phase;
  }
  if (options.stopAfter < options.emit.value_or(options.stopAfter))
    return fail(
        "--emit=" + getPhaseName(*options.emit) +
        " is of a phase after --stop-after=" + getPhaseName(options.stopAfter));
  CompilePhase last = options.getLastPhase();
  if (options.needsReport() && last < CompilePhase::Schedule)
    return fail("--report, --report-json and --timeline are of the phase "
                "schedule, but dtc is to stop after " +
                getPhaseName(last));
  if (!options.graph.empty() && last < CompilePhase::Parallel)
    return fail("--graph is for the phase parallel, which makes layouts, but "
                "dtc is to stop after " +
                getPhaseName(last));
  options.writeIr = isGiven("o") && last != CompilePhase::Link;
  return success();
}

/// The canonical path of a file, which need not exist yet.
static std::string getPlace(StringRef path) {
  llvm::SmallString<128> place, name(path);
  if (!llvm::sys::fs::real_path(name, place))
    return place.str().str();
  StringRef folder = llvm::sys::path::parent_path(name);
  if (llvm::sys::fs::real_path(folder.empty() ? "." : folder, place))
    return path.str();
  llvm::sys::path::append(place, llvm::sys::path::filename(name));
  return place.str().str();
}

/// Checks `-o` as far as possible before there is anything to write.
static LogicalResult checkOutput(const DriverOptions &options) {
  StringRef name = options.output;
  if (name.starts_with("-") ||
      llvm::any_of(name, [](unsigned char c) { return c < ' '; }))
    return fail("-o is not the name of a file: it begins with '-', or has "
                "control characters");
  StringRef folder = llvm::sys::path::parent_path(name);
  if (llvm::sys::fs::is_directory(options.output))
    return fail("-o is '" + options.output +
                "', which is a folder; expected the name of a file");
  if (!folder.empty() && !llvm::sys::fs::is_directory(folder))
    return fail("-o is '" + options.output + "', but there is no folder '" +
                folder + "'");
  std::map<std::string, std::string> writers;
  for (const auto &[option, path] : options.getOutputs()) {
    if (llvm::sys::fs::equivalent(path, options.compile.import.path))
      return fail(option + " writes '" + path +
                  "', which is the model; expected another file");
    auto [other, isNew] = writers.try_emplace(getPlace(path), option);
    if (!isNew)
      return fail(option + " writes '" + path + "', and so does " +
                  other->second + "; expected two files");
  }
  return success();
}

/// The folder lib beside the folder of dtc.
static std::string findRuntime(const char *program) {
  std::string self = llvm::sys::fs::getMainExecutable(
      program, reinterpret_cast<void *>(&findRuntime));
  StringRef folder = llvm::sys::path::parent_path(self);
  return (llvm::sys::path::parent_path(folder) + "/lib").str();
}

LogicalResult dtc::finishOutput(DriverOptions &options, const char *program) {
  StringRef timeline = options.timeline, graph = options.graph;
  if (!timeline.empty() && !timeline.ends_with(".svg") &&
      !timeline.ends_with(".json"))
    return fail("--timeline is '" + timeline +
                "', expected a name that ends in .svg or .json");
  if (!graph.empty() && !graph.ends_with(".svg"))
    return fail("--graph is '" + graph +
                "', expected a name that ends in .svg");
  if (options.runtimeDir.empty())
    options.runtimeDir = findRuntime(program);
  return failed(finishPhases(options)) ? failure() : checkOutput(options);
}
