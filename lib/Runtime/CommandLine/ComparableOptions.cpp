//===- ComparableOptions.cpp - options in a form that ranks compare -------===//

#include "ComparableOptions.h"

#include <CLI/CLI.hpp>
#include <set>

using namespace dtc::rt;

namespace {

/// Options that may differ between ranks: they change neither the numbers of a
/// training nor the operations that ranks wait for.
const std::set<std::string> mayDiffer = {
    "--help",      "--nproc",      "--threads", "--progress",
    "--log-every", "--rendezvous", "--timeout"};

/// Whether the path may differ between ranks, because each machine may have its
/// own folders. All ranks see one folder of checkpoints.
bool isPathOfRank(const CLI::Option &option) {
  std::string type = option.get_type_name();
  return (type.starts_with("DIR") || type.starts_with("FILE")) &&
         option.get_name() != "--checkpoint-dir";
}

} // namespace

GivenOptions dtc::rt::comparableOptions(const CLI::App &app) {
  GivenOptions given;
  for (const CLI::Option *option : app.get_options()) {
    std::string name = option->get_name();
    if (mayDiffer.count(name))
      continue;
    std::string value;
    if (option->count())
      value = CLI::detail::join(option->results(), " ");
    if (!value.empty() && value != "synthetic" && isPathOfRank(*option))
      value = "a path";
    given[name] = value;
  }
  return given;
}
