//===- OptionGroups.h - the options of the command line ---------*- C++ -*-===//

#ifndef DTC_LIB_RUNTIME_COMMANDLINE_OPTIONGROUPS_H
#define DTC_LIB_RUNTIME_COMMANDLINE_OPTIONGROUPS_H

#include "Options/Options.h"
#include "Program/Program.h"

namespace CLI {
class App;
} // namespace CLI

namespace dtc::rt {

// Each function adds the options of one group of --help, which set `options`.
void addDataOptions(CLI::App &app, Options &options);
void addTrainingOptions(CLI::App &app, Options &options,
                        const Program &program);
void addEvaluationOptions(CLI::App &app, Options &options,
                          const Program &program);
void addSavingOptions(CLI::App &app, Options &options);
/// `traceSteps` is the text of --trace-steps.
void addDisplayOptions(CLI::App &app, Options &options,
                       std::string &traceSteps);
void addLaunchOptions(CLI::App &app, Options &options);

} // namespace dtc::rt

#endif // DTC_LIB_RUNTIME_COMMANDLINE_OPTIONGROUPS_H
