//===- CommandLine.cpp - read the options of dtc --------------------------===//
//
// How options describe themselves, and what is said of one that is not known.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Fail.h"
#include "dtc/Support/NearestName.h"
#include "dtc/Support/Version.h"

using namespace mlir;
using namespace dtc;

static bool expect(const char *expected, llvm::StringRef name,
                   llvm::StringRef text, bool isRead) {
  if (!isRead)
    (void)fail("--" + name + " is '" + text + "', expected " + expected);
  return !isRead;
}

bool dtc::readValue(llvm::StringRef name, llvm::StringRef text,
                    int64_t &value) {
  return expect("a whole number", name, text, !text.getAsInteger(0, value));
}

bool dtc::readValue(llvm::StringRef name, llvm::StringRef text, double &value) {
  return expect("a number", name, text, !text.getAsDouble(value));
}

/// An option without a value has an empty one.
bool dtc::readValue(llvm::StringRef name, llvm::StringRef text, bool &value) {
  value = llvm::is_contained({"", "1", "true"}, text);
  return expect("true or false", name, text,
                value || llvm::is_contained({"0", "false"}, text));
}

bool dtc::readValue(llvm::StringRef, llvm::StringRef text, std::string &value) {
  value = text.str();
  return false;
}

cl::desc CommandLine::describeByOptimizer(
    llvm::StringRef text,
    llvm::function_ref<std::optional<double>(const Optimizer &)> getDefault) {
  // Optimizers with one default stand together, in the order of the first.
  std::vector<std::pair<double, std::string>> names;
  for (const Optimizer &optimizer : getOptimizers())
    if (std::optional<double> value = getDefault(optimizer)) {
      auto found = llvm::find_if(
          names, [&](const auto &entry) { return entry.first == *value; });
      if (found == names.end())
        names.emplace_back(*value, optimizer.name);
      else
        found->second += std::string(", ") + optimizer.name;
    }
  std::string &description = descriptions.emplace_back();
  llvm::raw_string_ostream os(description);
  os << text << " (default";
  const char *separator = " ";
  for (const auto &[value, list] : names) {
    os << separator << llvm::format("%g", value) << " for " << list;
    separator = "; ";
  }
  os << ")";
  return cl::desc(description);
}

cl::desc CommandLine::describeSetting(llvm::StringRef text, const char *name) {
  return describeByOptimizer(
      text, [&](const Optimizer &optimizer) -> std::optional<double> {
        auto found = optimizer.settings.find(name);
        if (found == optimizer.settings.end())
          return std::nullopt;
        return found->second;
      });
}

/// Whether an argument is the name of an option that needs a value.
static bool lacksValue(llvm::StringRef argument) {
  auto known = cl::getRegisteredOptions().find(argument.ltrim('-'));
  return argument.starts_with("-") &&
         known != cl::getRegisteredOptions().end() &&
         known->second->getValueExpectedFlag() == cl::ValueRequired;
}

/// A value as the option has it: names are in lower case, and users may write
/// "AdamW" or "FP16". The option's description has the names, beside what is in
/// capitals: "cost|parameters|uniform|NODE,...", "cross-entropy|output[:NAME]".
static std::string lowerName(const cl::Option &option, llvm::StringRef value) {
  llvm::StringRef head = value.take_until([](char c) { return c == ':'; });
  for (llvm::StringRef name : llvm::split(option.ValueStr, '|')) {
    name = name.take_until([](char c) { return c == ':' || c == '['; });
    if (name == name.lower() && head.equals_insensitive(name))
      return (name + value.drop_front(head.size())).str();
  }
  return value.str();
}

/// The arguments, with names of values in lower case.
static std::vector<std::string> lowerNames(llvm::ArrayRef<char *> arguments) {
  std::vector<std::string> result;
  const cl::Option *option = nullptr; // whose value is next
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

/// Says so of an option that there is not, and which one may be meant: LLVM's
/// parser would take "--optimiser" for -o, too.
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

/// One line of ours for what else LLVM's parser complains of in several.
static void reportBadOption(llvm::StringRef complaint) {
  llvm::StringRef what = complaint.split('\n').first;
  if (what.contains("Unknown command line argument"))
    (void)fail("unknown option '" + what.split('\'').second.split('\'').first +
               "'; see dtc --help");
  else
    (void)fail("found several models, expected one; see dtc --help");
}

std::optional<DriverOptions> dtc::parseCommandLine(int argc, char **argv) {
  // LLVM's libraries have options of their own, some under our names.
  cl::ResetCommandLineParser();
  static CommandLine line;
  // LLVM's parser takes some of these for zero.
  for (llvm::StringRef argument : llvm::ArrayRef(argv, argc).drop_front())
    if (argument.empty() ||
        (argument.starts_with("-") && argument.ends_with("="))) {
      (void)fail("found '" + argument + "', expected a value; see dtc --help");
      return std::nullopt;
    }
  if (llvm::StringRef last = argv[argc - 1]; argc > 1 && lacksValue(last)) {
    (void)fail("found '" + last + "' without a value; see dtc --help");
    return std::nullopt;
  }
  if (failed(checkNames(llvm::ArrayRef(argv, argc).drop_front())))
    return std::nullopt;
  cl::HideUnrelatedOptions({&line.modelOptions, &line.planOptions,
                            &line.trainingOptions, &line.outputOptions});
  cl::SetVersionPrinter(
      [](llvm::raw_ostream &os) { os << "dtc " << getVersion() << "\n"; });
  std::vector<std::string> words = lowerNames(llvm::ArrayRef(argv, argc));
  std::vector<const char *> arguments;
  arguments.reserve(words.size());
  for (const std::string &word : words)
    arguments.push_back(word.c_str());
  std::string complaint;
  llvm::raw_string_ostream complaints(complaint);
  if (!cl::ParseCommandLineOptions(
          argc, arguments.data(),
          "dtc: an ONNX model becomes a training program for many ranks\n\n"
          "  dtc model.onnx --dp 4 --pp 2 -o model.train\n"
          "  ./model.train --nproc 8 --data DIR --epochs 3\n"
          "  dtc compare model.onnx --plan \"--dp 8\" --plan \"--dp 4 --pp "
          "2\"\n",
          &complaints)) {
    // What is wrong with an option's value has been printed.
    if (!complaint.empty())
      reportBadOption(complaint);
    return std::nullopt;
  }
  if (failed(line.finish(argv[0])))
    return std::nullopt;
  return line.options;
}
