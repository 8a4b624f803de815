//===- dtc-data.cpp - makes folders that training programs read -----------===//
//
// dtc-data mnist|cifar|images|text|csv SOURCE -o OUT: docs/Data.md.
//
//===----------------------------------------------------------------------===//

#include "Converters.h"
#include "Core/Error.h"
#include "Stop.h"
#include "dtc/Support/Version.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>

using namespace dtc::data;

namespace {

using Convert = std::string (*)(const Settings &, const OutputFolder &);

struct Command {
  Settings settings;
  std::string output;
  bool force = false;
  std::vector<int64_t> size; ///< of --resize
  std::string classes = "fine";
  Convert convert = nullptr;
};

/// A format: its --help text and its converter.
struct Format {
  const char *name, *description, *source;
  Convert convert;
  bool hasSamples; ///< from one source, with labels; else tokens of any number
  bool hasImages;
};

constexpr Format formats[] = {
    {"mnist", "MNIST and Fashion-MNIST: idx files",
     "folder of idx files, plain or .gz", convertIdx, true, true},
    {"cifar", "CIFAR-10 and CIFAR-100: the binary version",
     "folder of .bin files", convertCifar, true, true},
    {"images", "a folder of JPEG or PNG files per class",
     "folder of the classes' folders", convertImages, true, true},
    {"csv", "a table of numbers", "file, with a header by default", convertCsv,
     true, false},
    {"text", "a stream of tokens", "files of text, in this order", convertText,
     false, false},
};

void addSampleOptions(CLI::App *sub, Command &command) {
  sub->get_option("source")->expected(1);
  sub->add_option("--input", command.settings.input, "name of the input")
      ->type_name("NAME")
      ->capture_default_str();
  sub->add_option("--labels", command.settings.labels, "name of the labels")
      ->type_name("NAME")
      ->capture_default_str();
  sub->add_option("--seed", command.settings.seed,
                  "seed of the draw by --valid")
      ->type_name("N")
      ->capture_default_str();
}

void addResize(CLI::App *sub, Command &command) {
  sub->add_option("--resize", command.size,
                  "height and width of all images; bilinear")
      ->type_name("H,W")
      ->delimiter(',')
      ->expected(1, 2)
      ->check(CLI::Range(1, 4096));
}

void addFormat(CLI::App &app, Command &command, const Format &format) {
  CLI::App *sub = app.add_subcommand(format.name, format.description);
  sub->add_option("source", command.settings.sources, format.source)
      ->required()
      ->type_name("");
  sub->add_option("-o,--output", command.output,
                  "output folder; it appears when it is complete")
      ->required()
      ->type_name("DIR");
  sub->add_flag("--force", command.force,
                "replace the folder of an earlier conversion");
  sub->add_option("--valid", command.settings.valid,
                  "fraction of the samples that goes to DIR/valid")
      ->type_name("FRACTION")
      ->check(CLI::Range(0.0, 0.999))
      ->check([](const std::string &text) -> std::string {
        bool isNumber = !std::isnan(strtod(text.c_str(), nullptr));
        return isNumber ? "" : "found '" + text + "', expected a number";
      });
  if (format.hasSamples)
    addSampleOptions(sub, command);
  if (format.hasImages)
    addResize(sub, command);
  sub->callback([&] { command.convert = format.convert; });
}

void addCommands(CLI::App &app, Command &command) {
  for (const Format &format : formats)
    addFormat(app, command, format);
  app.get_subcommand("cifar")
      ->add_option("--classes", command.classes,
                   "labels of CIFAR-100: coarse or fine")
      ->check(CLI::IsMember({"coarse", "fine"}, CLI::ignore_case))
      ->capture_default_str();
  app.get_subcommand("images")
      ->add_option("--channels", command.settings.channels,
                   "1: gray, 3: colour")
      ->type_name("N")
      ->check(CLI::IsMember({1, 3}))
      ->capture_default_str();
  CLI::App *csv = app.get_subcommand("csv");
  csv->add_option("--label", command.settings.label,
                  "column of the labels: its name in the header, or with "
                  "--no-header its number, counted from 0")
      ->required()
      ->type_name("COLUMN");
  csv->add_flag("--no-header", command.settings.noHeader,
                "the first line has values, too; columns are named 0, 1, ...");
  for (const char *name : {"images", "csv"})
    app.get_subcommand(name)
        ->add_option("--like", command.settings.like,
                     "take classes, columns and shape from this folder, which "
                     "dtc-data made before")
        ->type_name("DIR");
  csv->add_flag("--regression", command.settings.regression,
                "labels are numbers, not classes");
  CLI::App *text = app.get_subcommand("text");
  text->add_option("--tokenizer", command.settings.tokenizer,
                   "a tokenizer.json with a byte-level BPE; without it, a "
                   "token is a byte")
      ->type_name("FILE");
  text->add_option("--end-of-text", command.settings.endOfText,
                   "a token to put after each file")
      ->type_name("TOKEN");
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("makes folders that training programs read with --data DIR",
               "dtc-data");
  app.require_subcommand(1);
  app.set_version_flag("--version",
                       std::string("dtc-data ") + dtc::getVersion());
  Command command;
  addCommands(app, command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    return fputs(app.help().c_str(), stdout) < 0;
  } catch (const CLI::CallForVersion &version) {
    return puts(version.what()) < 0;
  } catch (const CLI::ParseError &error) {
    fprintf(stderr, "dtc-data: error: %s; see dtc-data --help\n", error.what());
    return 1;
  }
  if (!command.size.empty()) {
    command.settings.height = command.size.front();
    command.settings.width = command.size.back();
  }
  command.settings.coarse = command.classes == "coarse";
  dtc::rt::setLinePrefix("dtc-data: ");
  stopOnSignals();
  try {
    OutputFolder folder(command.output, command.force,
                        command.settings.sources);
    std::string report = command.convert(command.settings, folder);
    folder.finish();
    printf("%s: %s", command.output.c_str(), report.c_str());
    return 0;
  } catch (const std::exception &error) {
    fprintf(stderr, "dtc-data: error: %s\n", error.what());
    endBySignal();
    return 1;
  }
}
