//===- ScaleRequest.cpp - command line of dtc scale -----------------------===//
//
// Takes the options of the command out. The processes that compile plans check
// all other options, except those that the number of ranks sets.
//
//===----------------------------------------------------------------------===//

#include "ScaleRequest.h"
#include "Fail.h"
#include "PlanProcess.h"
#include "dtc/Options/Options.h"
#include "dtc/Report/Devices.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace dtc;

static constexpr const char *onlyOutputs =
    "dtc scale prints a table, and writes the picture that -o FILE.svg names";

/// The name of an option without dashes, in dtc's words: "dp" for
/// "--data-parallel=4". Empty if the word is no option.
static StringRef getOptionName(StringRef word) {
  if (!word.consume_front("-"))
    return "";
  word.consume_front("-");
  StringRef name = word.split('=').first;
  ParallelOptions options;
  ParallelOptions::visit(options, [&](const OptionRow &row, auto &) {
    if (name == row.otherName)
      name = row.name;
  });
  return name;
}

namespace {

/// Reads options from a list of words.
class Words {
public:
  explicit Words(ArrayRef<StringRef> words) : rest(words) {}

  bool isDone() const { return rest.empty(); }
  StringRef getWord() const { return rest.front(); }
  ArrayRef<StringRef> getRest() const { return rest; }
  void skip() { rest = rest.drop_front(); }
  /// Takes an option and its value, "--ranks 1,2" or "--ranks=1,2".
  FailureOr<StringRef> takeValue() {
    auto [name, value] = getWord().split('=');
    bool isOneWord = name.size() < getWord().size();
    skip();
    if (isOneWord)
      return value;
    if (rest.empty())
      return fail("found no value of " + name + ", expected " +
                  ScaleRequest::usage);
    value = getWord();
    skip();
    return value;
  }

private:
  ArrayRef<StringRef> rest;
};

/// Names of files and devices that the request does not keep.
struct Files {
  StringRef measured, device;
};

} // namespace

static LogicalResult readRanks(StringRef text, std::vector<int64_t> &ranks) {
  for (StringRef word : llvm::split(text, ',')) {
    int64_t number;
    if (word.trim().getAsInteger(10, number) || number < 1 ||
        number > maxCount || (!ranks.empty() && number <= ranks.back()))
      return fail("--ranks is '" + text +
                  "', expected ascending numbers of ranks, such as 1,2,4,8");
    ranks.push_back(number);
  }
  return success();
}

static LogicalResult readBatch(StringRef text, ScaleRequest &request) {
  int64_t batch;
  if (text.getAsInteger(10, batch) || batch < 1 || batch > maxCount)
    return fail("--batch is '" + text + "', expected 1 to " +
                llvm::Twine(maxCount));
  request.batch = batch;
  return success();
}

/// Reads a count that another process checks again. Other values count as 1.
static int64_t readCount(StringRef text) {
  int64_t count;
  return text.getAsInteger(10, count) || count < 1 || count > maxCount ? 1
                                                                       : count;
}

/// Reads the options of a plan that say how many ranks a replica has, and
/// rejects options that differ with the number of ranks, or must not differ
/// between plans.
static LogicalResult readPlanOptions(ArrayRef<StringRef> options, bool isShared,
                                     int64_t &tp, int64_t &pp) {
  for (Words words(options); !words.isDone();) {
    StringRef word = words.getWord(), name = getOptionName(word);
    if (name == "dp")
      return fail("found '" + word +
                  "', but dtc scale sets dp to ranks / (tp x pp); leave it "
                  "out");
    if (!isShared && llvm::is_contained({"batch", "topology", "device"}, name))
      return fail("found '" + word +
                  "' in a --plan, expected it before the plans: it is the "
                  "same for all");
    if (failed(expectNoOutput(word, onlyOutputs)))
      return failure();
    if (name != "tp" && name != "pp") {
      words.skip();
      continue;
    }
    FailureOr<StringRef> value = words.takeValue();
    if (failed(value))
      return failure();
    (name == "tp" ? tp : pp) = readCount(*value);
  }
  return success();
}

static LogicalResult addPlan(StringRef text, ScaleRequest &request) {
  FailureOr<std::vector<std::string>> words = splitPlan(text.trim());
  if (failed(words))
    return failure();
  std::string name = text.trim().str();
  request.plans.push_back({name.empty() ? "data parallel" : name, *words});
  return success();
}

/// Reads the machine before the model, which may take long.
static LogicalResult readTopology(ScaleRequest &request, StringRef device) {
  const Device *found = Device::find(device.lower());
  if (!device.empty() && !found)
    return fail("--device is '" + device + "', expected one of " +
                Device::listNames());
  if (request.topologyFile.empty())
    return device.empty()
               ? fail("found no machine, expected --topology FILE.json or "
                      "--device " +
                      Device::listNames() + ", which give expected times")
               : success();
  llvm::Expected<Topology> read =
      Topology::read(request.topologyFile, found, "f32");
  if (!read)
    return fail(llvm::toString(read.takeError()));
  if (!read->speed)
    return fail(request.topologyFile +
                ": 'device.memory_bandwidth' is missing, expected a number "
                "above 0: the time of a step depends on it");
  request.topology = *read;
  return success();
}

std::string ScaleRequest::getModelName() const {
  return llvm::sys::path::stem(shared.front()).str();
}

/// Takes the options of the command, and collects the others.
static LogicalResult takeOptions(ArrayRef<StringRef> arguments,
                                 ScaleRequest &request, Files &files) {
  bool isStrong = false;
  for (Words words(arguments); !words.isDone();) {
    StringRef word = words.getWord(), name = word.split('=').first;
    StringRef option = getOptionName(word);
    if (word == "--strong" || word == "--weak") {
      (word == "--weak" ? request.isWeak : isStrong) = true;
      words.skip();
      continue;
    }
    if (!llvm::is_contained({"--ranks", "--plan", "-o", "--measured"}, name) &&
        !llvm::is_contained({"batch", "topology", "device"}, option)) {
      request.shared.push_back(word);
      words.skip();
      continue;
    }
    ArrayRef<StringRef> before = words.getRest();
    FailureOr<StringRef> value = words.takeValue();
    if (failed(value))
      return failure();
    if (name == "--ranks" && failed(readRanks(*value, request.ranks)))
      return failure();
    if (name == "--plan" && failed(addPlan(*value, request)))
      return failure();
    if (option == "batch" && failed(readBatch(*value, request)))
      return failure();
    if (name == "-o")
      request.picture = value->str();
    if (name == "--measured")
      files.measured = *value;
    if (option == "topology")
      request.topologyFile = value->str();
    if (option == "device") {
      files.device = *value;
      llvm::append_range(request.shared,
                         before.drop_back(words.getRest().size()));
    }
  }
  if (isStrong && request.isWeak)
    return fail("found --strong and --weak, expected one of them");
  return success();
}

/// Checks options that depend on others, and reads the plans' tp and pp.
static LogicalResult finish(ScaleRequest &request) {
  if (request.ranks.empty())
    return fail(llvm::Twine("found no --ranks, expected ") +
                ScaleRequest::usage);
  if (request.isWeak && !request.batch)
    return fail("found --weak without --batch, expected --batch N, the samples "
                "of a replica");
  if (!request.picture.empty() && !StringRef(request.picture).ends_with(".svg"))
    return fail("-o is '" + request.picture +
                "', expected the picture's name, which ends with .svg");
  if (request.plans.empty() && failed(addPlan("", request)))
    return failure();
  int64_t tp = 1, pp = 1;
  if (failed(readPlanOptions(ArrayRef(request.shared).drop_front(),
                             /*isShared=*/true, tp, pp)))
    return failure();
  for (ScaleRequest::Plan &plan : request.plans) {
    int64_t ownTp = tp, ownPp = pp;
    SmallVector<StringRef> words(plan.words.begin(), plan.words.end());
    if (failed(readPlanOptions(words, /*isShared=*/false, ownTp, ownPp)))
      return failure();
    plan.ranksPerReplica = ownTp * ownPp;
  }
  return success();
}

FailureOr<ScaleRequest> ScaleRequest::parse(ArrayRef<const char *> arguments) {
  SmallVector<StringRef> words(arguments.begin(), arguments.end());
  if (words.empty() || words.front().starts_with("-"))
    return fail(llvm::Twine("found no model, expected ") + usage);
  if (!llvm::sys::fs::exists(words.front()))
    return fail("'" + words.front() +
                "' does not exist, expected the model's file first: " + usage);
  ScaleRequest request;
  request.shared.push_back(words.front());
  Files files;
  if (failed(takeOptions(ArrayRef(words).drop_front(), request, files)) ||
      failed(finish(request)) || failed(readTopology(request, files.device)))
    return failure();
  if (!files.measured.empty()) {
    auto points = readMeasuredSteps(files.measured, request.isWeak);
    if (!points)
      return fail(llvm::toString(points.takeError()));
    request.measured = *points;
  }
  return request;
}
