//===- CommandLine.cpp - read the options of dtc --------------------------===//
//
// Prepares the arguments for LLVM's parser, and rewords its error messages.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "DeclareOptions.h"
#include "Fail.h"
#include "dtc/Support/NearestName.h"
#include "dtc/Support/Version.h"

using namespace mlir;
using namespace dtc;
namespace cl = llvm::cl;

bool dtc::isGiven(StringRef option) {
  return cl::getRegisteredOptions().lookup(option)->getNumOccurrences() > 0;
}

/// Whether an argument is the name of an option that needs a value.
static bool lacksValue(llvm::StringRef argument) {
  auto known = cl::getRegisteredOptions().find(argument.ltrim('-'));
  return argument.starts_with("-") &&
         known != cl::getRegisteredOptions().end() &&
         known->second->getValueExpectedFlag() == cl::ValueRequired;
}

/// Converts a value to lower case if it names a choice of the option: users may
/// write "AdamW" or "FP16". The option's description lists the names in lower
/// case, and placeholders in capitals: "cost|parameters|uniform|NODE,...",
/// "cross-entropy|output[:NAME]".
static std::string lowerName(const cl::Option &option, llvm::StringRef value) {
  llvm::StringRef head = value.take_until([](char c) { return c == ':'; });
  for (llvm::StringRef name : llvm::split(option.ValueStr, '|')) {
    name = name.take_until([](char c) { return c == ':' || c == '['; });
    if (name == name.lower() && head.equals_insensitive(name))
      return (name + value.drop_front(head.size())).str();
  }
  return value.str();
}

/// Returns the arguments, with named choices in lower case.
static std::vector<std::string> lowerNames(llvm::ArrayRef<char *> arguments) {
  std::vector<std::string> result;
  const cl::Option *option = nullptr; // the next argument is its value
  for (llvm::StringRef argument : arguments) {
    auto [name, value] = argument.split('=');
    auto known = cl::getRegisteredOptions().find(name.ltrim('-'));
    if (option) {
      result.push_back(lowerName(*option, argument));
      option = nullptr;
    } else if (!name.starts_with("-") ||
               known == cl::getRegisteredOptions().end()) {
      result.push_back(argument.str());
    } else if (argument.contains('=')) {
      result.push_back((name + "=" + lowerName(*known->second, value)).str());
    } else {
      result.push_back(argument.str());
      if (lacksValue(argument))
        option = known->second;
    }
  }
  return result;
}

/// Reports an unknown option and suggests a similar one. LLVM's parser would
/// take "--optimiser" for -o.
static LogicalResult checkNames(llvm::ArrayRef<char *> arguments) {
  bool isValue = false;
  for (llvm::StringRef argument : arguments) {
    llvm::StringRef name = argument.split('=').first;
    if (name == "--")
      return success();
    const auto &options = cl::getRegisteredOptions();
    if (!isValue && name.consume_front("--") && !options.contains(name)) {
      std::vector<std::string> names;
      for (const auto &option : options)
        names.push_back(option.first.str());
      std::string close = findNearestName(name, names);
      if (!close.empty())
        close = ", did you mean '--" + close + "'?";
      return fail("unknown option '--" + name + "'" + close +
                  "; see dtc --help");
    }
    isValue = !isValue && lacksValue(argument);
  }
  return success();
}

/// Reports other errors of LLVM's parser, which take several lines, in one
/// line.
static void reportBadOption(llvm::StringRef complaint) {
  llvm::StringRef what = complaint.split('\n').first;
  if (what.contains("Unknown command line argument"))
    (void)fail("unknown option '" + what.split('\'').second.split('\'').first +
               "'; see dtc --help");
  else
    (void)fail("found several models, expected one; see dtc --help");
}

/// Rejects empty values, which LLVM's parser reads as zero.
static LogicalResult checkValues(llvm::ArrayRef<char *> arguments) {
  for (llvm::StringRef argument : arguments)
    if (argument.empty() ||
        (argument.starts_with("-") && argument.ends_with("=")))
      return fail("found '" + argument + "', expected a value; see dtc --help");
  if (!arguments.empty() && lacksValue(arguments.back()))
    return fail("found '" + llvm::StringRef(arguments.back()) +
                "' without a value; see dtc --help");
  return success();
}

/// Parses the arguments into the fields of the options with LLVM's parser.
static LogicalResult parse(llvm::ArrayRef<char *> arguments) {
  std::vector<std::string> words = lowerNames(arguments);
  std::vector<const char *> texts;
  texts.reserve(words.size());
  for (const std::string &word : words)
    texts.push_back(word.c_str());
  std::string complaint;
  llvm::raw_string_ostream complaints(complaint);
  if (cl::ParseCommandLineOptions(
          int(texts.size()), texts.data(),
          "dtc: an ONNX model becomes a training program for many ranks\n\n"
          "  dtc model.onnx --dp 4 --pp 2 -o model.train\n"
          "  ./model.train --nproc 8 --data DIR --epochs 3\n"
          "  dtc compare model.onnx --plan \"--dp 8\" --plan \"--dp 4 --pp "
          "2\"\n"
          "  dtc scale model.onnx --ranks 1,2,4,8 --device h100 -o "
          "scaling.svg\n",
          &complaints))
    return success();
  // An error in an option's value has been printed before.
  if (!complaint.empty())
    reportBadOption(complaint);
  return failure();
}

static LogicalResult finish(DriverOptions &options, const char *program) {
  // Runs before finishPlan, which may check that the target is a GPU.
  if (isGiven("device") && !isGiven("target"))
    options.compile.target.kind = "cuda";
  // Runs last, because the limit applies to the plan of all other options.
  return success(
      succeeded(finishModel(options)) && succeeded(finishPlan(options)) &&
      succeeded(finishTraining(options)) && succeeded(finishDevice(options)) &&
      succeeded(finishOutput(options, program)) &&
      succeeded(finishDeviceMemory(options)));
}

std::optional<DriverOptions> dtc::parseCommandLine(int argc, char **argv) {
  // Removes options of LLVM's libraries, some of which have the names of ours.
  cl::ResetCommandLineParser();
  // Static, because LLVM's parser keeps references.
  static DriverOptions options;
  static DeclaredOptions declared(options);
  static cl::opt<std::string, true> path(
      cl::Positional, cl::location(options.compile.import.path),
      cl::desc("MODEL.onnx"));
  cl::HideUnrelatedOptions(declared.getCategories());
  cl::SetVersionPrinter(
      [](llvm::raw_ostream &os) { os << "dtc " << getVersion() << "\n"; });
  llvm::ArrayRef<char *> arguments(argv, argc);
  if (failed(checkValues(arguments.drop_front())) ||
      failed(checkNames(arguments.drop_front())) || failed(parse(arguments)) ||
      failed(finish(options, argv[0])))
    return std::nullopt;
  return options;
}
