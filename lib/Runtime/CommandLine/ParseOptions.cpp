//===- ParseOptions.cpp - command line of a training program --------------===//

#include "ParseOptions.h"

#include "CheckOptions.h"
#include "ComparableOptions.h"
#include "Core/Error.h"
#include "OptionGroups.h"
#include "Version.h"
#include "dtc/Support/NearestName.h"

#include <CLI/CLI.hpp>
#include <filesystem>

using namespace dtc::rt;

/// Describes the first argument that no option takes, and suggests an option
/// with a similar name.
static std::string describeUnknown(const CLI::App &app) {
  std::string argument = app.remaining().front();
  if (!argument.starts_with("--"))
    return "found '" + argument + "', which is the value of no option";
  std::string name = argument.substr(0, argument.find('='));
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    for (const std::string &other : option->get_lnames())
      names.push_back("--" + other);
  std::string nearest = dtc::findNearestName(name, names);
  return "unknown option '" + name + "'" +
         (nearest.empty() ? "" : ", did you mean '" + nearest + "'?");
}

std::optional<Options> dtc::rt::parseOptions(const Program &program, int argc,
                                             char **argv, std::string &help) {
  Options options;
  options.name = std::filesystem::path(argv[0]).filename().string();
  options.learningRate.peak = program.learningRate;
  const std::string &name = options.name;
  options.arguments.assign(argv + 1, argv + argc);
  CLI::App app(format("trains %s on %s", program.model.c_str(),
                      program.describeRanks().c_str()),
               name);
  app.get_formatter()->column_width(36);
  auto inGroup = [&](const char *group) {
    app.option_defaults()->always_capture_default()->group(group);
  };
  app.set_version_flag(
      "--version", [&program] { return describeVersion(program); },
      "print the version of dtc, the plan and the target, and exit");
  std::string traceSteps;
  inGroup("Data");
  addDataOptions(app, options);
  inGroup("Training");
  addTrainingOptions(app, options, program);
  inGroup("Evaluation");
  addEvaluationOptions(app, options, program);
  inGroup("Saving");
  addSavingOptions(app, options);
  inGroup("Display");
  addDisplayOptions(app, options, traceSteps);
  inGroup("Ranks and devices");
  addLaunchOptions(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    help = app.help();
    return std::nullopt;
  } catch (const CLI::CallForVersion &version) {
    help = version.what();
    return std::nullopt;
  } catch (const CLI::ExtrasError &) {
    fail("%s; see %s --help", describeUnknown(app).c_str(), name.c_str());
  } catch (const CLI::ParseError &error) {
    fail("%s; see %s --help", error.what(), name.c_str());
  }
  checkOptions(app, program, options, traceSteps);
  options.given = comparableOptions(app);
  return options;
}
